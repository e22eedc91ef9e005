import { inString } from "./json-text.ts";
import { CUT_ESCAPE, decodeEscapes, numberToJson } from "./python-text.ts";
import { SchemaView } from "./schema-view.ts";

/** A mark around strings. */
export interface Quote {
  readonly mark: string;
  /** Whether a backslash escapes in such a string. */
  readonly escapes: boolean;
}

/** The quotes of Python, the long ones first. */
const PYTHON_QUOTES: readonly Quote[] = ['"""', "'''", '"', "'"].map((mark) => ({
  mark,
  escapes: true,
}));

/** Arguments as Python writes them. */
export const PYTHON: ArgumentSyntax = { quotes: PYTHON_QUOTES, assign: ["="] };

const MAX_DEPTH = 64;
const UNKNOWN = new SchemaView(undefined);
const WORDS: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  None: "null",
  true: "true",
  false: "false",
  null: "null",
};
const NUMBER =
  /[-+]?(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?)(?![\w.])/y;
const NAME = /[\p{L}_$][\p{L}\p{N}_$.-]*/uy;
const STRING_PREFIX = /(?:[rR][bB]?|[bB][rR]?|[uU])(?=["'])/y;

/** The text is no literal of this kind. */
class NoLiteral extends Error {}

/**
 * Reads a literal as Python, JSON or a model's mixture of them spells it, and spells it in JSON; numbers keep their digits.
 * `undefined` where the text is none.
 */
export function literalToJson(text: string): string | undefined {
  const reader = new LiteralReader(text, PYTHON, false);
  return attempt(() => reader.value(UNKNOWN, 0)) && reader.atEnd ? reader.spelled : undefined;
}

/** How the arguments of a call are written between its brackets. */
export interface ArgumentSyntax {
  readonly quotes: readonly Quote[];
  /** What stands behind an argument's name. */
  readonly assign: readonly string[];
  /** Spells what stands in no quotes in JSON; where it is absent, only numbers and literals may stand there. */
  readonly bare?: (text: string, schema: SchemaView) => string;
}

/**
 * Reads what stands between the brackets of a call and spells it as a JSON object; arguments without a name have the names of the
 * parameters in their order. `undefined` where it cannot be read.
 */
export function argumentsToJson(
  text: string,
  syntax: ArgumentSyntax,
  schema: SchemaView,
): string | undefined {
  const reader = new LiteralReader(text, syntax, false);
  return attempt(() => reader.arguments(schema)) ? reader.spelled : undefined;
}

/** The same of arguments that were cut off: as much of the object as is certain. */
export function cutArgumentsToJson(text: string, syntax: ArgumentSyntax, schema: SchemaView): string {
  const reader = new LiteralReader(text, syntax, true);
  attempt(() => reader.arguments(schema));
  return reader.spelled;
}

function attempt(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof NoLiteral) return false;
    throw error;
  }
}

class LiteralReader {
  readonly #text: string;
  readonly #syntax: ArgumentSyntax;
  /** More would follow, had the text not been cut off. */
  readonly #isCut: boolean;
  readonly #pieces: string[] = [];
  #at = 0;

  constructor(text: string, syntax: ArgumentSyntax, isCut: boolean) {
    this.#text = text;
    this.#syntax = syntax;
    this.#isCut = isCut;
  }

  get atEnd(): boolean {
    this.#match(/\s*/y);
    return this.#at === this.#text.length;
  }

  /** What has been read, in JSON. */
  get spelled(): string {
    return this.#pieces.join("");
  }

  arguments(schema: SchemaView): void {
    const names = schema.names;
    this.#pieces.push("{");
    for (let count = 0; !this.atEnd; ) {
      if (this.#passes("**{")) count = this.#members(schema, count, 0);
      else {
        const name = this.#name(this.#syntax.assign) ?? names[count];
        if (name === undefined) throw new NoLiteral();
        this.#member(name, count++, schema, 0);
      }
      if (!this.#passes(",") && !this.atEnd) throw new NoLiteral();
    }
    if (!this.#isCut) this.#pieces.push("}");
  }

  value(schema: SchemaView, depth: number): void {
    if (depth > MAX_DEPTH) throw new NoLiteral();
    if (this.#string()) return;
    if (this.#passes("{")) this.#object(schema, depth);
    else if (this.#passes("[")) this.#array("]", schema, depth);
    else if (this.#passes("(")) this.#array(")", schema, depth);
    else if (this.#syntax.bare) this.#bare(schema, this.#syntax.bare);
    else this.#word();
  }

  #object(schema: SchemaView, depth: number): void {
    this.#pieces.push("{");
    this.#members(schema, 0, depth + 1);
    this.#pieces.push("}");
  }

  /** Members up to the closing brace; returns how many stand in their object now. */
  #members(schema: SchemaView, before: number, depth: number): number {
    let count = before;
    for (; !this.#passes("}"); count++) {
      const name = this.#name([":"]);
      if (name === undefined) throw new NoLiteral();
      this.#member(name, count, schema, depth);
      this.#separator("}");
    }
    return count;
  }

  #member(name: string, count: number, schema: SchemaView, depth: number): void {
    this.#pieces.push(`${count > 0 ? ", " : ""}${JSON.stringify(name)}: `);
    this.value(schema.property(name), depth);
  }

  #array(close: string, schema: SchemaView, depth: number): void {
    this.#pieces.push("[");
    for (let count = 0; !this.#passes(close); count++) {
      if (count > 0) this.#pieces.push(", ");
      this.value(schema.items, depth + 1);
      this.#separator(close);
    }
    this.#pieces.push("]");
  }

  #separator(close: string): void {
    if (this.#passes(",")) return;
    this.#match(/\s*/y);
    if (!this.#text.startsWith(close, this.#at)) throw new NoLiteral();
  }

  #word(): void {
    this.#match(/\s*/y);
    const number = this.#match(NUMBER);
    const json = number === undefined ? WORDS[this.#match(NAME) ?? ""] : numberToJson(number);
    if (json === undefined || this.#endsEarly) throw new NoLiteral();
    this.#pieces.push(json);
  }

  #bare(schema: SchemaView, spell: (text: string, schema: SchemaView) => string): void {
    const text = this.#match(/[^,\]})]+/y)?.trim();
    if (!text || this.#endsEarly) throw new NoLiteral();
    const isNumber = schema.types.size === 0 && /^-?\d/.test(text);
    const said = isNumber ? literalToJson(text) : schema.types.size === 0 ? WORDS[text] : undefined;
    this.#pieces.push(said ?? spell(text, schema));
  }

  /** The name of an argument or a member; `undefined`, and nothing read, where there is none. */
  #name(assign: readonly string[]): string | undefined {
    const start = this.#at;
    this.#match(/\s*/y);
    const quote = this.#quote();
    const name = quote ? this.#quoted(quote, true) : this.#match(NAME);
    if (name !== undefined && assign.some((mark) => this.#passes(mark))) return name;
    this.#at = start;
    return undefined;
  }

  /** Reads one string, or several side by side, which Python joins; `false` where there is none. */
  #string(): boolean {
    for (let any = false; ; any = true) {
      this.#match(/\s*/y);
      const raw = /r/i.test(this.#match(STRING_PREFIX) ?? "");
      const quote = this.#quote();
      if (!quote) {
        if (any) this.#pieces.push('"');
        return any;
      }
      if (!any) this.#pieces.push('"');
      const text = this.#quoted(quote, !raw);
      if (text !== undefined) this.#pieces.push(inString(text));
      else this.#cutString(quote);
    }
  }

  #cutString({ escapes }: Quote): never {
    const rest = this.#text.slice(this.#at);
    this.#pieces.push(inString(escapes ? decodeEscapes(rest.replace(CUT_ESCAPE, "$1")) : rest));
    throw new NoLiteral();
  }

  #quote(): Quote | undefined {
    const quote = this.#syntax.quotes.find(({ mark }) => this.#text.startsWith(mark, this.#at));
    this.#at += quote?.mark.length ?? 0;
    return quote;
  }

  /** What stands before the closing mark; `undefined`, and nothing read, where there is no such mark. */
  #quoted({ mark, escapes }: Quote, decodes: boolean): string | undefined {
    const start = this.#at;
    for (let at = start; at < this.#text.length; at++) {
      if (escapes && this.#text[at] === "\\") at++;
      else if (this.#text.startsWith(mark, at)) {
        this.#at = at + mark.length;
        const inside = this.#text.slice(start, at);
        return decodes && escapes ? decodeEscapes(inside) : inside;
      }
    }
    return undefined;
  }

  #passes(literal: string): boolean {
    this.#match(/\s*/y);
    if (!this.#text.startsWith(literal, this.#at)) return false;
    this.#at += literal.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  /** What has just been read may not be all of it. */
  get #endsEarly(): boolean {
    return this.#isCut && this.#at === this.#text.length;
  }
}
