import type { Block } from "../machine/grammar.ts";
import { MAX_NAME, skipTrailers, textBefore } from "../machine/lookahead.ts";
import type { Output } from "../machine/output.ts";
import { Markers, type Reading, type TextInput } from "../machine/text-input.ts";
import { Brackets, MAX_BRACKETS } from "./brackets.ts";
import { argumentsToJson, cutArgumentsToJson, type Quote } from "./loose-literal.ts";
import { SchemaView } from "./schema-view.ts";
import { typedText } from "./typed-text.ts";

/** A format that writes `call:NAME{key:value}` with quotes of its own. */
export interface BraceCalls {
  marker: string;
  /** The mark around strings; nothing is escaped in them. */
  quote: string;
  /** What may stand behind a call. */
  close: readonly string[];
  /** The marker is nothing but the word before the name: only a whole call of a declared name counts. */
  isWord?: true;
}

const HEAD_END = new Markers(["{", "(", "<", "\n"]);
const HEAD = /^(?:call)?:?\s*([\p{L}\p{N}_.-]+)\s*$/u;

/** Reads one call in braces. */
export function braceBlock({ marker, quote, close, isWord }: BraceCalls): Block {
  const quotes: readonly Quote[] = [
    { mark: quote, escapes: false },
    { mark: '"', escapes: true },
  ];
  const body = new Body(quotes);
  const trailers = new Markers(close);
  return function* read(input, out, { tools }) {
    input.at += marker.length;
    const name = yield* readName(input);
    if (name === undefined) return !isWord && endsInName(input);
    const declared = tools.has(name);
    if (isWord && !declared) return false;
    const schema = new SchemaView(tools.get(name));
    const read = isWord
      ? yield* body.whole(input, out, name, schema)
      : yield* body.live(input, out, name, schema);
    if (read) yield* skipTrailers(input, trailers);
    return read;
  };
}

/** The name before a bracket. */
function* readName(input: TextInput): Reading<string | undefined> {
  const head = yield* textBefore(input, HEAD_END, MAX_NAME);
  return input.next === "{" || input.next === "(" ? HEAD.exec(head ?? "")?.[1] : undefined;
}

/** The reply ended in what would have become a name; that is passed over. */
function endsInName(input: TextInput): boolean {
  const ends = input.ended && /^[\w.:-]+$/.test(input.text.slice(input.at));
  if (ends) input.at = input.text.length;
  return ends;
}

/** The arguments of a call in their brackets. */
class Body {
  readonly #brackets: Brackets;
  readonly #syntax;

  constructor(quotes: readonly Quote[]) {
    this.#brackets = new Brackets(quotes);
    this.#syntax = { quotes, assign: [":", "="], bare: typedText };
  }

  /** Gives the call out before its end has come. */
  *live(input: TextInput, out: Output, name: string, schema: SchemaView): Reading<boolean> {
    const call = out.call(name);
    const { text, end } = yield* this.#brackets.read(input);
    if (end === "closed") {
      out.arguments(call, argumentsToJson(text, this.#syntax, schema) ?? text);
      out.callEnd(call);
    } else out.arguments(call, cutArgumentsToJson(text, this.#syntax, schema));
    return true;
  }

  /** Gives the call out only if all of it can be read. */
  *whole(input: TextInput, out: Output, name: string, schema: SchemaView): Reading<boolean> {
    const { text, end } = yield* this.#brackets.read(input, MAX_BRACKETS);
    const json = end === "closed" ? argumentsToJson(text, this.#syntax, schema) : undefined;
    if (json !== undefined) out.wholeCall(name, json);
    return json !== undefined;
  }
}
