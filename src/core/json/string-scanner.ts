import { BACKSLASH, FIRST_PRINTABLE, isDigit, LETTER_U, QUOTE } from "./chars.ts";

const TEXT = 0;
const ESCAPE = 1;
const HEX = 2;

/** What the one-character escapes stand for, by the code of the character after the backslash. */
const ESCAPES: readonly (string | undefined)[] = Object.entries({
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}).reduce<(string | undefined)[]>((table, [letter, meaning]) => {
  table[letter.charCodeAt(0)] = meaning;
  return table;
}, new Array(128).fill(undefined));

/**
 * Reads one JSON string (RFC 8259 section 7) behind its opening quote, from pieces cut anywhere.
 *
 * 1. A run without escapes is found by one loop and taken by one slice.
 * 2. UTF-16 units are kept as they come: a lone surrogate, raw or escaped, stays one.
 */
export class StringScanner {
  /** Whether the last `scan` met the closing quote. */
  closed = false;
  #mode: typeof TEXT | typeof ESCAPE | typeof HEX = TEXT;
  #kept = "";
  #hexDigits = 0;
  #hexValue = 0;

  /** What the next character must be, for a message. */
  get expected(): string {
    if (this.#mode === HEX) return 'a hexadecimal digit of a "\\u" escape';
    if (this.#mode === ESCAPE) return 'one of " \\ / b f n r t u behind a backslash';
    return "a closing double quote";
  }

  /**
   * Reads on from `from`. Returns the index behind the closing quote (`closed` is then true), or that of a character that
   * cannot stand there, or the length of `text` when the string goes on.
   */
  scan(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      if (this.#mode === TEXT) {
        at = this.#run(text, at);
        if (this.closed || this.#mode === TEXT) return at;
      } else if (this.#escape(text.charCodeAt(at))) at++;
      else return at;
    }
    return at;
  }

  /** The text of the closed string. The scanner is then ready for the next one. */
  take(): string {
    const text = this.#kept;
    this.#kept = "";
    this.closed = false;
    return text;
  }

  #run(text: string, from: number): number {
    let at = from;
    let code = 0;
    for (; at < text.length; at++) {
      code = text.charCodeAt(at);
      if (code === QUOTE || code === BACKSLASH || code < FIRST_PRINTABLE) break;
    }
    if (at > from) this.#kept += at - from === text.length ? text : text.slice(from, at);
    if (at === text.length) return at;
    if (code === BACKSLASH) this.#mode = ESCAPE;
    else if (code === QUOTE) this.closed = true;
    else return at;
    return at + 1;
  }

  #escape(code: number): boolean {
    if (this.#mode === HEX) return this.#hex(code);
    if (code === LETTER_U) {
      this.#mode = HEX;
      return true;
    }
    const meaning = ESCAPES[code];
    if (meaning === undefined) return false;
    this.#kept += meaning;
    this.#mode = TEXT;
    return true;
  }

  #hex(code: number): boolean {
    const digit = hexValue(code);
    if (digit < 0) return false;
    this.#hexValue = this.#hexValue * 16 + digit;
    if (++this.#hexDigits < 4) return true;
    this.#kept += String.fromCharCode(this.#hexValue);
    this.#hexDigits = 0;
    this.#hexValue = 0;
    this.#mode = TEXT;
    return true;
  }
}

/** The value of a hexadecimal digit, or -1. */
function hexValue(code: number): number {
  if (isDigit(code)) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
