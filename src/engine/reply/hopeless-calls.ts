import { type JsonObject, type JsonPath, type JsonValue, setMember } from "../../core/json/value.ts";
import type { OpenCall, ToolCall } from "../../core/protocol/accumulator.ts";
import type { EarlyBudget } from "../../core/schema/early-check.ts";
import { explain } from "../../core/schema/message.ts";
import { parameterOf, spell } from "../../core/schema/place.ts";
import type { Problem } from "../../core/schema/problem.ts";
import { CALL_TEXTS } from "../calls/call-texts.ts";
import type { Passage, Verdict } from "../gates/gate.ts";
import { REFERENCE_MARK } from "../plan/references.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";

/** Why a call cannot become valid any more, known while its arguments were still coming. */
export interface HopelessNote {
  /** The parameter at fault, for example `stops[2].city`. */
  path: string;
  /** The kind of problem, as the schema gate names it. */
  problem: string;
  /** The sentence for the model. */
  feedback: string;
  /** Characters of the argument text that had come by then. */
  after: number;
}

/** The work that looking at the values of one call may be, in places visited; after that nothing more is said of it. */
export const MAX_WORK = 100_000;

/** What looking at a call has come to. */
interface Looks {
  /** Its pieces are known to be no snapshots. */
  isAppended: boolean;
  /** A value may refer to another call. */
  refers: boolean;
  readonly budget: EarlyBudget;
}

/**
 * The calls of one run that cannot become valid any more, found while their arguments arrive.
 *
 * 1. A call is hopeless only if the schema gate will refuse its arguments whatever follows, in every form that coercion and the
 *    tool's normalisers can give them.
 * 2. Of arguments that may refer to other calls nothing is said: what they refer to is not there yet.
 * 3. Pieces that may be snapshots of the whole text say nothing yet: only the last of those counts.
 * 4. With `cancel`, a hopeless call stops its reply, unless a call of the client is in it, which the client has seen come. Of a
 *    reply that was stopped nothing runs: the hopeless call is refused with its problem, every other one as not finished.
 */
export class HopelessCalls {
  readonly #locale: "en" | "zh";
  readonly #cancel: boolean;
  /** Each with the JSON pointer of its parameter. */
  readonly #notes = new Map<string, { note: HopelessNote; at: string }>();
  readonly #looks = new WeakMap<OpenCall, Looks>();
  #wanted = false;
  #stopped = false;

  constructor(locale: "en" | "zh", cancel: boolean) {
    this.#locale = locale;
    this.#cancel = cancel;
  }

  /** A reply begins. */
  begin(): void {
    this.#wanted = false;
    this.#stopped = false;
  }

  /** Looks at a value that is complete; returns what is wrong, the first time that something is wrong with its call. */
  look(call: OpenCall, tool: RegisteredTool, path: JsonPath, value: JsonValue): HopelessNote | undefined {
    const looks = this.#looksAt(call);
    // Anything but an object as the root may be text around the object.
    if (this.#notes.has(call.id) || typeof path[0] !== "string" || looks.budget.left <= 0) return undefined;
    looks.refers ||= typeof value === "string" && value.includes(REFERENCE_MARK);
    if (!isAppended(call, looks) || looks.refers) return undefined;
    const problem = hopelessAt(tool, path, value, looks.budget);
    if (!problem) return undefined;
    const note: HopelessNote = {
      path: spell(path),
      problem: problem.kind,
      feedback: explain(problem, this.#locale),
      after: call.length,
    };
    this.#notes.set(call.id, { note, at: parameterOf(problem) });
    this.#wanted = this.#cancel;
    return note;
  }

  note(callId: string): HopelessNote | undefined {
    return this.#notes.get(callId)?.note;
  }

  /** Whether the reply that holds these calls so far is to be read no further; then it counts as stopped. */
  stop(isOfClient: boolean): boolean {
    this.#stopped = this.#wanted && !isOfClient;
    return this.#stopped;
  }

  /** What the gates say of a call of a reply that was stopped; `undefined` where it was not. */
  passage({ id, name }: Pick<ToolCall, "id" | "name">): Passage | undefined {
    if (!this.#stopped) return undefined;
    const known = this.#notes.get(id);
    const refusal: Extract<Verdict, { pass: false }> = known
      ? {
          gate: "schema",
          pass: false,
          code: "arguments_invalid",
          problem: known.note.problem,
          feedback: known.note.feedback,
          path: known.at,
        }
      : {
          gate: "syntax",
          pass: false,
          code: "reply_stopped",
          problem: "stopped",
          feedback: CALL_TEXTS[this.#locale].stopped,
        };
    return { tool: name, verdicts: [refusal], args: undefined, refusal, approval: undefined };
  }

  #looksAt(call: OpenCall): Looks {
    const known = this.#looks.get(call);
    if (known) return known;
    const looks = { isAppended: false, refers: false, budget: { left: MAX_WORK } };
    this.#looks.set(call, looks);
    return looks;
  }
}

/** Of the first piece alone both readings say the same. */
function isAppended({ fragments }: OpenCall, looks: Looks): boolean {
  if (fragments.length < 2 || looks.isAppended) return true;
  const longest = fragments.reduce((long, piece) => (piece.length > long.length ? piece : long), "");
  looks.isAppended = !fragments.every((piece) => longest.startsWith(piece));
  return looks.isAppended;
}

/**
 * Why no arguments with this value at this path pass the schema gate; `undefined` if some could. They are judged as they are and, if they do
 * not fit, as the normalisers make them; a value must fit in neither.
 */
export function hopelessAt(
  { schema, rules }: RegisteredTool,
  path: JsonPath,
  value: JsonValue,
  budget: EarlyBudget,
): Problem | undefined {
  const problem = schema.hopeless(path, value, budget);
  if (!problem) return undefined;
  const changed = at(rules.normalise(alone(path, value), []), path);
  return schema.hopeless(path, changed, budget) && problem;
}

/** Arguments that hold nothing but one value; what is an element stands alone in its array. */
function alone(path: JsonPath, value: JsonValue): JsonValue {
  return path.reduceRight<JsonValue>((inner, step) => {
    if (typeof step === "number") return [inner];
    const object: JsonObject = {};
    setMember(object, step, inner);
    return object;
  }, value);
}

function at(root: JsonValue, path: JsonPath): JsonValue {
  return path.reduce<JsonValue>(
    (inner, step) =>
      Array.isArray(inner) ? (inner[0] as JsonValue) : ((inner as JsonObject)[step] as JsonValue),
    root,
  );
}
