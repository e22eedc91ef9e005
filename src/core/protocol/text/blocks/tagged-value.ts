import { ahead, endsWithin, flow } from "../machine/lookahead.ts";
import { Markers, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import type { CallWriter } from "./call-writer.ts";
import type { SchemaView } from "./schema-view.ts";
import { type MemberEnd, structureOf, type TagMarks } from "./tagged.ts";
import { type Frame, type ValueKind, ValueWriter } from "./value-writer.ts";

/** A parameter's name, and how its value says its type. */
export interface Key {
  name: string;
  kind: ValueKind;
}

/** How a format writes values as text between marks. */
export interface TextValues {
  /** What, within a value, begins something that the mark behind a value closes. */
  readonly nested: string;
  readonly frame: Frame;
  /** Reads a parameter's name behind its opening mark, up to its value. `undefined`: the reply ended in it. */
  readKey(input: TextInput): Reading<Key | undefined>;
}

/** What models call a parameter that holds all of them. */
const WHOLE = "arguments";

/** Inputs that were read to their end in vain: a further search would end there too. */
const exhausted = new WeakSet<TextInput>();

/**
 * Reads parameters whose values are text.
 *
 * 1. Only a closing mark that markup follows closes a value, and calls that stand whole within a value belong to it.
 * 2. Where that finds no end in all of the reply, a mark is missing: the value ends at the first thing that could have been its
 *    end.
 */
export class TextMembers {
  readonly #tags: TagMarks;
  readonly #values: TextValues;
  readonly #marks: Markers;
  /** What markup may follow a value. */
  readonly #structure: Markers;

  constructor(tags: TagMarks, values: TextValues) {
    const { key, keyClose, call, eos } = tags;
    this.#tags = tags;
    this.#values = values;
    this.#marks = new Markers([
      ...new Set([keyClose, values.nested, key, call.close]),
      ...(eos ? [eos] : []),
    ]);
    this.#structure = structureOf(tags);
  }

  *read(input: TextInput, writer: CallWriter, schema: SchemaView): Reading<MemberEnd> {
    const key = yield* this.#values.readKey(input);
    if (!key) return "cut";
    if (key.name === WHOLE && writer.empty && !schema.has(WHOLE))
      return yield* this.#whole(input, writer, schema, key);
    writer.member(key.name);
    const value = new ValueWriter(writer, schema.property(key.name), key.kind, this.#values.frame);
    const end = yield* this.#pass(input, schema, (text) => value.push(text));
    if (end !== "cut") value.end();
    return end;
  }

  /** One parameter of this name that nobody declared may hold all arguments. */
  *#whole(input: TextInput, writer: CallWriter, schema: SchemaView, key: Key): Reading<MemberEnd> {
    let text = "";
    const end = yield* this.#pass(input, schema, (piece) => {
      text += piece;
    });
    const alone = !(yield* ahead(input, () => this.#anotherFollows(input)));
    if (alone && /^\s*\{/.test(text)) writer.raw(text.trim());
    else {
      writer.member(key.name);
      const value = new ValueWriter(writer, schema.property(key.name), key.kind, this.#values.frame);
      value.push(text);
      if (end !== "cut") value.end();
    }
    return end;
  }

  *#anotherFollows(input: TextInput): Reading<boolean> {
    yield* skipBlanks(input);
    return (yield* this.#structure.here(input)) === this.#tags.key;
  }

  *#pass(input: TextInput, schema: SchemaView, take: (text: string) => void): Reading<MemberEnd> {
    if ((yield* flow(input, this.#marks, take)) === undefined) return "cut";
    const end = yield* ahead(input, () => this.#findEnd(input, schema));
    if (!end) {
      take(this.#withoutEnd(input.take(input.text.length)));
      return "cut";
    }
    take(input.take(input.at + end.length));
    if (end.closed) input.at += this.#tags.keyClose.length;
    return end.sure ? "closed" : "loose";
  }

  #withoutEnd(text: string): string {
    const { eos } = this.#tags;
    return eos && text.endsWith(eos) ? text.slice(0, -eos.length) : text;
  }

  /** Looks for the end of a value; the input stands at the first of the marks. */
  *#findEnd(input: TextInput, schema: SchemaView): Reading<End | undefined> {
    const search = new Search();
    for (let mark = yield* this.#marks.here(input); mark !== undefined; ) {
      const at = search.length;
      input.at += mark.length;
      search.length += mark.length;
      yield* this.#judge(input, schema, mark, at, search);
      if (search.end?.sure || (search.end && exhausted.has(input))) return search.end;
      mark = yield* flow(input, this.#marks, (text) => {
        search.length += text.length;
      });
    }
    exhausted.add(input);
    return search.end;
  }

  /** What a mark, behind which the input stands, says about where the value ends. */
  *#judge(input: TextInput, schema: SchemaView, mark: string, at: number, search: Search): Reading<void> {
    const { key, keyClose, call } = this.#tags;
    if (mark === keyClose) {
      const sure = search.depth === 0 && (yield* ahead(input, () => this.#isFollowed(input)));
      search.found({ length: at, closed: true, sure });
      search.depth = Math.max(0, search.depth - 1);
    }
    const loose =
      mark === call.close || (mark === key && (yield* ahead(input, () => this.#isKey(input, schema))));
    if (loose) search.found({ length: at, closed: false, sure: false });
    if (mark === this.#values.nested) search.depth++;
  }

  /** Whether markup, or the end of the reply, comes next. */
  *#isFollowed(input: TextInput): Reading<boolean> {
    if ((yield* skipBlanks(input)) === "") return true;
    if ((yield* this.#structure.here(input)) !== undefined) return true;
    return yield* endsWithin(input, this.#structure);
  }

  /** Whether a parameter that is declared begins here. */
  *#isKey(input: TextInput, schema: SchemaView): Reading<boolean> {
    const key = yield* this.#values.readKey(input);
    return key !== undefined && schema.has(key.name);
  }
}

interface End {
  /** How much of the text belongs to the value. */
  length: number;
  /** The mark that closes the value stands behind. */
  closed: boolean;
  sure: boolean;
}

/** How far a search for the end of a value has come. */
class Search {
  length = 0;
  /** How many values within the value are open. */
  depth = 0;
  end: End | undefined;

  found(end: End): void {
    if (end.sure || !this.end) this.end = end;
  }
}
