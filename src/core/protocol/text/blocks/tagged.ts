import type { Opener } from "../machine/grammar.ts";
import { ahead, endsWithin, flow, skipTrailers, textBefore } from "../machine/lookahead.ts";
import type { Output } from "../machine/output.ts";
import { Markers, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import type { ReaderContext } from "../reader.ts";
import { CallWriter } from "./call-writer.ts";
import { skipClosing } from "./closing.ts";
import { passValue } from "./json-value.ts";
import { SchemaView } from "./schema-view.ts";

/** Two strings around something. */
export interface Pair {
  readonly open: string;
  readonly close: string;
}

/** The beginning of a call. */
export interface Head {
  /** `""` where it has none. */
  name: string;
  /** The call ends with it. */
  empty?: boolean;
  /** The opening mark of the first parameter is missing: its name comes next. */
  begun?: boolean;
}

/**
 * How a parameter ended: as it should, or (`loose`) at what could have been its end, since a mark is missing; or the reply ended in
 * it.
 */
export type MemberEnd = "closed" | "loose" | "cut";

/** The strings of a family of formats that write calls with a tag for each parameter. */
export interface TagMarks {
  readonly wrappers: readonly Pair[];
  readonly call: Pair;
  /** A call counts outside of a wrapper as it does inside; else it must be closed there, declared, and have all that it needs. */
  readonly sure: boolean;
  /** What begins a parameter. */
  readonly key: string;
  /** What ends one, and means nothing between two. */
  readonly keyClose: string;
  /** A token that ends the reply and may have been left in it. */
  readonly eos?: string | undefined;
}

/** How such a family writes calls. */
export interface TagGrammar extends TagMarks {
  /** Reads the head of a call behind its opening mark. `undefined`: the reply ended in it. */
  head(input: TextInput, tools: ReaderContext["tools"]): Reading<Head | undefined>;
  /** Reads a parameter behind its opening mark and writes it. */
  member(input: TextInput, writer: CallWriter, schema: SchemaView): Reading<MemberEnd>;
}

/** The openers of a grammar: its wrappers, and calls on their own. */
export function taggedOpeners(grammar: TagGrammar): Opener[] {
  const tagged = new Tagged(grammar);
  const wrappers = grammar.wrappers.map(
    ({ open }): Opener => ({
      marker: open,
      block: (input, out, context) => tagged.wrapped(open, input, out, context),
    }),
  );
  const alone: Opener = {
    marker: grammar.call.open,
    block: (input, out, context) => tagged.alone(input, out, context),
  };
  return [...wrappers, alone];
}

/** The strings that say where in a call something begins or ends. */
export function structureOf({ wrappers, call, key, keyClose, eos }: TagMarks): Markers {
  const around = wrappers.flatMap(({ open, close }) => [open, close]);
  return new Markers([...new Set([...around, call.open, call.close, key, keyClose]), ...(eos ? [eos] : [])]);
}

/**
 * What stands behind a call's head: parameters, the second half of one, JSON, anything else, nothing, or what belongs to no
 * call.
 */
type Body = "members" | "begun" | "json" | "raw" | "empty" | "none";
type CallEnd = "closed" | "implied" | "cut";

/** A call without a name, and arguments that are no tags, may have at most as much text before their end. */
const MAX_NAMELESS = 1024;
const MAX_RAW = 4096;

class Tagged {
  readonly #grammar: TagGrammar;
  readonly #structure: Markers;
  readonly #closers: Markers;
  readonly #calls: Markers;
  readonly #bodyEnd: Markers;

  constructor(grammar: TagGrammar) {
    const { wrappers, call, sure, eos } = grammar;
    const around = wrappers.flatMap(({ open, close }) => [open, close]);
    this.#grammar = grammar;
    this.#structure = structureOf(grammar);
    this.#closers = new Markers([
      ...wrappers.map(({ close }) => close),
      ...(sure ? [call.close] : []),
      ...(eos ? [eos] : []),
    ]);
    this.#calls = new Markers([call.open]);
    this.#bodyEnd = new Markers([call.close, call.open, ...around]);
  }

  /** Reads a wrapper with all calls in it. */
  *wrapped(open: string, input: TextInput, out: Output, context: ReaderContext): Reading<boolean> {
    input.at += open.length;
    for (let any = false; ; ) {
      const mark = input.mark();
      yield* skipBlanks(input);
      const call = yield* this.#call(input, out, context, true);
      if (call === "none") input.back(mark);
      else input.release();
      if (call === "call") any = true;
      else if (call === "partial") return true;
      else if (!(yield* this.#skipNameless(input))) {
        if (any) yield* skipClosing(input, this.#closers);
        return any;
      }
    }
  }

  /** Reads a call that stands in no wrapper. */
  *alone(input: TextInput, out: Output, context: ReaderContext): Reading<boolean> {
    const found = yield* this.#call(input, out, context, this.#grammar.sure);
    const skip = this.#grammar.sure ? skipClosing : skipTrailers;
    if (found === "call") yield* skip(input, this.#closers);
    return found !== "none";
  }

  /** `partial`: the reply ended in the head. */
  *#call(
    input: TextInput,
    out: Output,
    { tools }: ReaderContext,
    sure: boolean,
  ): Reading<"call" | "partial" | "none"> {
    if ((yield* this.#calls.skip(input)) === undefined) return yield* this.#partial(input);
    const head = yield* this.#grammar.head(input, tools);
    if (!head) return sure ? "partial" : "none";
    const known = tools.has(head.name);
    if (head.name === "" || !(known || sure)) return "none";
    const body = yield* this.#bodyOf(input, head, known && sure);
    if (body === "none") return "none";
    const schema = new SchemaView(tools.get(head.name));
    const writer = new CallWriter(out, head.name, sure);
    const end = yield* this.#arguments(input, writer, schema, body);
    const counts = sure || (end === "closed" && writer.hasAll(schema.required));
    if (counts && end !== "cut") writer.end();
    return counts ? "call" : "none";
  }

  /** The reply ends in what begins a call. */
  *#partial(input: TextInput): Reading<"partial" | "none"> {
    const within = !input.drained && (yield* endsWithin(input, this.#calls));
    if (within) input.at = input.text.length;
    return within ? "partial" : "none";
  }

  /** Passes over a call without a name, where one with a name follows. */
  *#skipNameless(input: TextInput): Reading<boolean> {
    const { close } = this.#grammar.call;
    const mark = input.mark();
    yield* skipBlanks(input);
    const found = (yield* this.#calls.skip(input)) !== undefined;
    const text = found ? yield* textBefore(input, this.#bodyEnd, MAX_NAMELESS) : undefined;
    const closed = text !== undefined && input.text.startsWith(close, input.at);
    if (closed) input.at += close.length;
    const follows = closed && (yield* ahead(input, () => this.#startsCall(input)));
    if (follows) input.release();
    else input.back(mark);
    return follows;
  }

  *#startsCall(input: TextInput): Reading<boolean> {
    yield* skipBlanks(input);
    return (yield* this.#calls.here(input)) !== undefined;
  }

  /** `mayBeRaw`: arguments that are no tags are worth telling the model about. */
  *#bodyOf(input: TextInput, head: Head, mayBeRaw: boolean): Reading<Body> {
    if (head.empty) return "empty";
    if (head.begun) return "begun";
    const body = yield* ahead(input, () => this.#body(input));
    return body === "raw" && !mayBeRaw ? "none" : body;
  }

  *#body(input: TextInput): Reading<Body> {
    const next = yield* skipBlanks(input);
    if (next === "{") return "json";
    if (next === "" || (yield* this.#structure.here(input)) !== undefined) return "members";
    if (yield* endsWithin(input, this.#structure)) return "members";
    const text = yield* textBefore(input, this.#bodyEnd, MAX_RAW);
    return text !== undefined && input.text.startsWith(this.#grammar.call.close, input.at) ? "raw" : "none";
  }

  *#arguments(input: TextInput, writer: CallWriter, schema: SchemaView, body: Body): Reading<CallEnd> {
    if (body === "empty") return "closed";
    yield* skipBlanks(input);
    if (body === "raw") yield* flow(input, this.#bodyEnd, (text) => writer.raw(text.trim()));
    if (body === "json") {
      const end = yield* passValue(input, this.#bodyEnd, (text, put) => writer.raw(text, put));
      if (end === "cut") return "cut";
    }
    if (body === "begun" && (yield* this.#grammar.member(input, writer, schema)) === "cut") return "cut";
    return yield* this.#members(input, writer, schema);
  }

  /** Reads parameters up to what ends the call. */
  *#members(input: TextInput, writer: CallWriter, schema: SchemaView): Reading<CallEnd> {
    for (let end: MemberEnd = "closed"; end !== "cut"; ) {
      switch (yield* this.#between(input)) {
        case "member":
          end = yield* this.#grammar.member(input, writer, schema);
          // What is not certain to be a call must at least be whole.
          if (end === "loose" && !writer.live) return "cut";
          break;
        case "call":
          return "closed";
        case "markup":
          return "implied";
        case "text":
          return end === "loose" ? "cut" : "implied";
        case "end":
          return this.#ended(input, writer, schema);
      }
    }
    // The reply has ended inside of a parameter.
    if (input.ended) input.at = input.text.length;
    return "cut";
  }

  /**
   * What comes between two parameters: the mark of another one or of the call's end, which is passed over, or something else,
   * which is left: markup that can only come behind the call, text, or the end of the reply.
   */
  *#between(input: TextInput): Reading<"member" | "call" | "markup" | "text" | "end"> {
    const { call, key, keyClose } = this.#grammar;
    const mark = input.mark();
    for (;;) {
      const next = yield* skipBlanks(input);
      const found = yield* this.#structure.here(input);
      if (found === key || found === call.close || found === keyClose) {
        input.at += found.length;
        if (found === keyClose) continue;
        input.release();
        return found === key ? "member" : "call";
      }
      const ends = next === "" || (yield* endsWithin(input, this.#structure));
      input.back(mark);
      if (ends) return "end";
      return found === undefined ? "text" : "markup";
    }
  }

  /** The reply has ended between parameters: the call is whole if it has what it needs and no further parameter had begun. */
  #ended(input: TextInput, writer: CallWriter, schema: SchemaView): CallEnd {
    const rest = input.take(input.text.length).trim();
    const begun = rest.length > 1 && this.#grammar.key.startsWith(rest) && !this.#closers.begins(rest);
    return !begun && writer.hasAll(schema.required) ? "implied" : "cut";
  }
}
