import { isSpace } from "./chars.ts";
import { readLooseString } from "./loose-string.ts";
import type { RepairName } from "./repair-names.ts";

/** A piece of loosely written JSON. */
export interface LooseToken {
  readonly kind: "open" | "close" | "comma" | "colon" | "string" | "word" | "other";
  /** As JSON spells it; a word and what is other, a number or nothing known, as it was written. */
  readonly text: string;
}

const MARKS: ReadonlyMap<string, LooseToken> = new Map([
  ["{", { kind: "open", text: "{" }],
  ["[", { kind: "open", text: "[" }],
  ["}", { kind: "close", text: "}" }],
  ["]", { kind: "close", text: "]" }],
  [",", { kind: "comma", text: "," }],
  [":", { kind: "colon", text: ":" }],
]);

const BARE = /[^\s{}[\],:"'“”„‟‘’‚‛/#]+/y;
const WORD = /^[\p{L}_$][\p{L}\p{M}\p{N}_$]*$/u;
/** Where a line ends is where it ends in JavaScript; what it ends with must be white space of JSON. */
const LINE = /[^\n\r\u2028\u2029]*/y;

/** Reads the tokens of loosely written JSON one by one. No character is read twice. */
export class LooseTokens {
  /** Where the text goes on behind the last token that `next` gave. */
  at: number;
  readonly comments: string[] = [];
  /** Some string so far was delimited by apostrophes. */
  hasSingleQuotes = false;
  readonly #text: string;
  readonly #repairs: Set<RepairName>;
  #ahead: { token: LooseToken | undefined; end: number } | undefined;

  /** What it puts right goes into `repairs`. */
  constructor(text: string, from: number, repairs: Set<RepairName>) {
    this.#text = text;
    this.at = from;
    this.#repairs = repairs;
  }

  /** The next token; `undefined` at the end of the text, or where something stands that is no token. */
  next(): LooseToken | undefined {
    const { token, end } = this.#ahead ?? this.#read();
    this.#ahead = undefined;
    this.at = end;
    return token;
  }

  /** The token that `next` gives next. */
  peek(): LooseToken | undefined {
    this.#ahead ??= this.#read();
    return this.#ahead.token;
  }

  #read(): { token: LooseToken | undefined; end: number } {
    const at = this.#behindSpace(this.at);
    const mark = MARKS.get(this.#text.charAt(at));
    if (mark) return { token: mark, end: at + 1 };
    return this.#readString(at) ?? this.#readBare(at);
  }

  #readString(at: number): { token: LooseToken; end: number } | undefined {
    const string = readLooseString(this.#text, at);
    if (!string) return undefined;
    for (const repair of string.repairs) this.#repairs.add(repair);
    this.hasSingleQuotes ||= string.single;
    return { token: { kind: "string", text: string.json }, end: string.end };
  }

  #readBare(at: number): { token: LooseToken | undefined; end: number } {
    const text = matchAt(BARE, this.#text, at);
    const kind = WORD.test(text) ? "word" : "other";
    return { token: text === "" ? undefined : { kind, text }, end: at + text.length };
  }

  /** The index of the first character that is neither white space nor in a comment. */
  #behindSpace(from: number): number {
    let at = from;
    for (;;) {
      while (isSpace(this.#text.charCodeAt(at))) at++;
      const end = this.#commentEnd(at);
      if (end === at) return at;
      this.comments.push(this.#text.slice(at, end));
      this.#repairs.add("comment");
      at = end;
    }
  }

  #commentEnd(at: number): number {
    if (this.#text.startsWith("/*", at)) {
      const end = this.#text.indexOf("*/", at + 2);
      return end < 0 ? at : end + 2;
    }
    const isLine = this.#text.startsWith("#", at) || this.#text.startsWith("//", at);
    return isLine ? at + matchAt(LINE, this.#text, at).length : at;
  }
}

/** What a sticky pattern finds at `at`; `""` for nothing. */
function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
