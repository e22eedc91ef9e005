import { JsonParser } from "../json/parser.ts";
import type { RepairName } from "../json/repair-names.ts";
import type { OnValue } from "../json/tree-builder.ts";
import type { ToolFragment } from "./adapter.ts";

/** A tool call of a finished reply. */
export interface ToolCall {
  /** Unique within the run. */
  id: string;
  /** `""` when the model named none. */
  name: string;
  kind: "function" | "custom";
  /** The argument text exactly as the model wrote it, after the reading that `reading` names. */
  raw: string;
  /** How the pieces were put together: `plain` is simple appending. */
  reading: "plain" | "snapshot" | "placeholder" | "replay";
  /** More text came than is allowed; `raw` is cut there. */
  tooLong: boolean;
  /** What was put right in the text before it was `raw`. */
  repairs?: readonly RepairName[] | undefined;
  /** Unknown members of the provider, to be echoed on this call. */
  extra: Record<string, unknown> | undefined;
}

/** A call that is still coming. */
export interface OpenCall {
  readonly id: string;
  name: string;
  readonly kind: "function" | "custom";
  readonly fragments: string[];
  readonly parser: JsonParser;
  length: number;
  repairs: Set<RepairName> | undefined;
  extra: Record<string, unknown> | undefined;
  /** The id as the provider sent it. */
  wireId: string | undefined;
}

export interface AccumulatorOptions {
  /** Argument text of one call, in UTF-16 units. */
  maxLength: number;
  /** Gives a call its id: the provider's where it is free, else a new one. */
  nextId(wireId: string | undefined): string;
  /** A value of a call's arguments is complete. */
  onValue?(call: OpenCall, ...of: Parameters<OnValue>): void;
}

const MAX_CALLS = 128;

/**
 * Puts the pieces of one reply's tool calls together, whatever the provider does to index, id and name.
 *
 * 1. Index decides, where there is one; a new id together with a name opens a new call also under a used index.
 * 2. An id without a name never opens a second call under a used index; the first id is kept.
 * 3. A piece that names nothing continues the call opened last (or the only one without arguments under an unknown index). With
 *    an id of its own, under an unknown index and with nothing to continue, it begins a call whose name is still to come.
 * 4. No id and a name again, after complete arguments: the next call, if the name is another or an opening brace comes with it.
 * 5. Memory depends on the pieces seen, never on the numbers in them; more than 128 calls are a
 *    `RangeError`.
 * 6. Nothing is decided before the reply has ended: `finish` reads each text once more as a whole.
 */
export class CallAccumulator {
  readonly #options: AccumulatorOptions;
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();
  readonly #byWireId = new Map<string, OpenCall>();
  /** The calls that the delta which is being read has spoken of: two places of it are never one call. */
  readonly #inDelta = new Set<OpenCall>();

  constructor(options: AccumulatorOptions) {
    this.#options = options;
  }

  get calls(): readonly OpenCall[] {
    return this.#calls;
  }

  /** Takes one piece and says to which call it belongs. */
  push(fragment: ToolFragment): OpenCall {
    if (fragment.place === 0) this.#inDelta.clear();
    const call = this.#find(fragment) ?? this.#open(fragment);
    if (fragment.index !== undefined) this.#byIndex.set(fragment.index, call);
    this.#append(call, fragment);
    this.#inDelta.add(call);
    return call;
  }

  /**
   * The calls in the order in which they began, without those that say nothing at all. The reply must have ended: a text that
   * parses could still grow.
   */
  finish(): ToolCall[] {
    const calls = this.#calls.filter(({ name, length }) => name !== "" || length > 0);
    return calls.map((call) => {
      const joined = call.fragments.join("");
      const { text, reading } = call.kind === "custom" ? plain(joined) : readArguments(call, joined);
      return {
        id: call.id,
        name: call.name,
        kind: call.kind,
        raw: text,
        reading,
        tooLong: call.length > this.#options.maxLength,
        ...(call.repairs && { repairs: [...call.repairs] }),
        extra: call.extra,
      };
    });
  }

  #find(fragment: ToolFragment): OpenCall | undefined {
    const { index, id } = fragment;
    const known = id === undefined ? undefined : this.#byWireId.get(id);
    const found =
      index === undefined ? this.#withoutIndex(known, fragment) : this.#atIndex(index, known, fragment);
    return found && !this.#opensAnother(found, fragment) ? found : undefined;
  }

  #atIndex(index: number, known: OpenCall | undefined, fragment: ToolFragment): OpenCall | undefined {
    const call = this.#byIndex.get(index);
    if (call) return call;
    // A name under an unknown index opens a call even when its id is known: some providers derive ids from names.
    return fragment.name === undefined ? (known ?? this.#unnamed(fragment)) : undefined;
  }

  #withoutIndex(known: OpenCall | undefined, { id, name }: ToolFragment): OpenCall | undefined {
    const last = this.#calls.at(-1);
    if (name === undefined) return known ?? last;
    const isSame = id === undefined && (last?.name === name || last?.name === "");
    const call = known ?? (isSame ? last : undefined);
    return call && !this.#inDelta.has(call) ? call : undefined;
  }

  /** Where a piece under an unknown index, without a name, belongs. */
  #unnamed({ id, text }: ToolFragment): OpenCall | undefined {
    const waiting = this.#calls.filter((call) => call.length === 0);
    const found = waiting.length === 1 ? waiting[0] : this.#calls.at(-1);
    const isHead = id !== undefined && (text === "" || (found?.parser.completeAt ?? 0) >= 0);
    return isHead ? undefined : found;
  }

  #opensAnother(call: OpenCall, { id, name, text }: ToolFragment): boolean {
    if (name === undefined) return false;
    if (id !== undefined && call.wireId !== undefined) return id !== call.wireId;
    if (id !== undefined || call.name === "" || call.parser.completeAt < 0) return false;
    if (name !== call.name) return true;
    return text.trimStart().startsWith("{") && call.fragments.join("") !== text;
  }

  #open(fragment: ToolFragment): OpenCall {
    if (this.#calls.length === MAX_CALLS)
      throw new RangeError(`more than ${MAX_CALLS} tool calls in one reply`);
    const { id, kind } = fragment;
    const call: OpenCall = {
      id: this.#options.nextId(id),
      name: "",
      kind,
      fragments: [],
      length: 0,
      repairs: undefined,
      extra: undefined,
      wireId: id,
      parser: new JsonParser({
        maxLength: this.#options.maxLength,
        onValue: (...of) => this.#options.onValue?.(call, ...of),
      }),
    };
    this.#calls.push(call);
    if (id !== undefined) this.#byWireId.set(id, call);
    return call;
  }

  #append(call: OpenCall, fragment: ToolFragment): void {
    if (fragment.id !== undefined && call.wireId === undefined) {
      call.wireId = fragment.id;
      this.#byWireId.set(fragment.id, call);
    }
    if (fragment.name !== undefined) call.name = grownName(call, fragment.name);
    if (fragment.extra) call.extra = { ...call.extra, ...fragment.extra };
    if (fragment.repairs) call.repairs = new Set([...(call.repairs ?? []), ...fragment.repairs]);
    if (fragment.text === "") return;
    const room = this.#options.maxLength - call.length;
    call.length += fragment.text.length;
    if (room <= 0) return;
    call.fragments.push(fragment.text.length > room ? fragment.text.slice(0, room) : fragment.text);
    if (call.kind === "function") call.parser.push(fragment.text);
  }
}

/** A name may come in pieces until the arguments begin; after that, and when it is only repeated, it stands. */
function grownName(call: OpenCall, piece: string): string {
  if (call.name === "") return piece;
  if (call.length > 0 || piece === call.name) return call.name;
  return piece.startsWith(call.name) ? piece : call.name + piece;
}

const plain = (text: string) => ({ text, reading: "plain" as const });

/** Appending first; only where that is no JSON text, the three ways are tried in which providers say the same thing twice. */
function readArguments(call: OpenCall, joined: string): Pick<ToolCall, "reading"> & { text: string } {
  call.parser.end();
  if (call.parser.status === "complete" || joined.trim() === "") return plain(joined);
  const last = call.fragments.at(-1) ?? "";
  if (
    call.fragments.length > 1 &&
    call.fragments.every((piece) => last.startsWith(piece)) &&
    isObjectText(last)
  ) {
    return { text: last, reading: "snapshot" };
  }
  const end = call.parser.completeAt;
  if (end < 0) return plain(joined);
  const first = joined.slice(0, end).trim();
  const rest = joined.slice(end).trim();
  if (rest === first) return { text: first, reading: "replay" };
  if (/^\{\s*\}$/.test(first) && isObjectText(rest)) return { text: rest, reading: "placeholder" };
  return plain(joined);
}

function isObjectText(text: string): boolean {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  return text.trimStart().startsWith("{") && parser.status === "complete";
}
