import { flow, MAX_NAME, textBefore } from "../machine/lookahead.ts";
import { Markers, type Reading, type TextInput } from "../machine/text-input.ts";
import type { CallWriter } from "./call-writer.ts";
import { readNamedHead } from "./named-tags.ts";
import type { SchemaView } from "./schema-view.ts";
import type { MemberEnd, TagGrammar } from "./tagged.ts";
import { typedText } from "./typed-text.ts";
import { ValueWriter } from "./value-writer.ts";

const MAX_DEPTH = 32;
const NAME_ENDS = new Markers([">", "<", "\n"]);

/** A format in which a token stands before every tag, parameters are tags of their own name, and values may be made of further tags. */
export interface NestedTags {
  token: string;
  wrapper: string;
  call: string;
}

/** The grammar of tags within tags. */
export function nestedTags({ token, wrapper, call }: NestedTags): TagGrammar {
  const elements = new Elements(token);
  return {
    wrappers: [{ open: `${token}<${wrapper}>`, close: `${token}</${wrapper}>` }],
    call: { open: `${token}<${call} name=`, close: `${token}</${call}>` },
    sure: false,
    key: `${token}<`,
    keyClose: `${token}</`,
    head: readNamedHead,
    member: (input, writer, schema) => elements.member(input, writer, schema),
  };
}

class Elements {
  readonly #token: string;
  readonly #tag: Markers;

  constructor(token: string) {
    this.#token = token;
    this.#tag = new Markers([`${token}<`]);
  }

  *member(input: TextInput, writer: CallWriter, schema: SchemaView): Reading<MemberEnd> {
    const name = yield* this.#name(input);
    if (name === undefined) return "cut";
    const place = schema.property(name);
    if (place.types.has("string") && !place.types.has("object") && !place.types.has("array")) {
      writer.member(name);
      return yield* this.#text(input, name, new ValueWriter(writer, place, "schema", "none"));
    }
    const value = yield* this.#value(input, name, place, 0);
    if (value === undefined) return "cut";
    writer.member(name);
    writer.write(value);
    return "closed";
  }

  /** The name of a tag behind its token and bracket. */
  *#name(input: TextInput): Reading<string | undefined> {
    const name = yield* textBefore(input, NAME_ENDS, MAX_NAME);
    if (!name || input.next !== ">") return undefined;
    input.at++;
    return name;
  }

  /** A string: there are no tags in it, so any tag ends it. */
  *#text(input: TextInput, name: string, value: ValueWriter): Reading<MemberEnd> {
    if ((yield* flow(input, this.#tag, (text) => value.push(text))) === undefined) return "cut";
    const closed = (yield* new Markers([this.#close(name)]).skip(input)) !== undefined;
    value.end();
    return closed ? "closed" : "loose";
  }

  /** The JSON of what stands between a tag and the one that closes it; `undefined`: the reply ended in it. */
  *#value(input: TextInput, name: string, schema: SchemaView, depth: number): Reading<string | undefined> {
    const close = new Markers([this.#close(name)]);
    const pieces: string[] = [];
    const children: [string, string][] = [];
    const isList = schema.types.has("array");
    for (;;) {
      if ((yield* flow(input, this.#tag, (text) => pieces.push(text))) === undefined) return undefined;
      if ((yield* close.skip(input)) !== undefined) break;
      input.at += this.#token.length + 1;
      const child = yield* this.#name(input);
      if (child === undefined || depth > MAX_DEPTH) return undefined;
      const place = isList ? schema.items : schema.property(child);
      const value = yield* this.#value(input, child, place, depth + 1);
      if (value === undefined) return undefined;
      children.push([child, value]);
    }
    if (children.length === 0) return typedText(pieces.join(""), schema);
    const asList = isList || children.every(([child]) => child === "item");
    const members = children.map(([child, value]) => (asList ? value : `${JSON.stringify(child)}: ${value}`));
    return asList ? `[${members.join(", ")}]` : `{${members.join(", ")}}`;
  }

  #close(name: string): string {
    return `${this.#token}</${name}>`;
  }
}
