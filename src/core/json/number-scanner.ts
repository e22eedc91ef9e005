import { isDigit } from "./chars.ts";
import { isExact } from "./decimal.ts";

const STOP = -1;

/** Kinds of characters in a number, each a column of `NEXT`. */
const ZERO = 0;
const DIGIT = 1;
const MINUS = 2;
const PLUS = 3;
const POINT = 4;
const EXPONENT = 5;
const COLUMNS = 6;

/** What has been read so far, each a row of `NEXT`. */
const START = 0;
const SIGNED = 1;
const LEADING_ZERO = 2;
const INTEGER = 3;
const POINTED = 4;
const FRACTION = 5;
const RAISED = 6;
const RAISED_SIGNED = 7;
const POWER = 8;

/** The grammar of RFC 8259 section 6: from what has been read and the kind of the next character to what has been read then. */
// biome-ignore format: a table reads by its columns
const NEXT = Int8Array.of(
  // 0           1-9      -              +              .        e
  LEADING_ZERO, INTEGER,  SIGNED,        STOP,          STOP,    STOP,   // START
  LEADING_ZERO, INTEGER,  STOP,          STOP,          STOP,    STOP,   // SIGNED
  STOP,         STOP,     STOP,          STOP,          POINTED, RAISED, // LEADING_ZERO
  INTEGER,      INTEGER,  STOP,          STOP,          POINTED, RAISED, // INTEGER
  FRACTION,     FRACTION, STOP,          STOP,          STOP,    STOP,   // POINTED
  FRACTION,     FRACTION, STOP,          STOP,          STOP,    RAISED, // FRACTION
  POWER,        POWER,    RAISED_SIGNED, RAISED_SIGNED, STOP,    STOP,   // RAISED
  POWER,        POWER,    STOP,          STOP,          STOP,    STOP,   // RAISED_SIGNED
  POWER,        POWER,    STOP,          STOP,          STOP,    STOP,   // POWER
);

/** The column of a character, by its code; `STOP` for one that no number holds. */
const KIND = new Int8Array(128).fill(STOP);
KIND.fill(DIGIT, 0x31, 0x3a);
KIND[0x30] = ZERO;
KIND[0x2d] = MINUS;
KIND[0x2b] = PLUS;
KIND[0x2e] = POINT;
KIND[0x65] = EXPONENT;
KIND[0x45] = EXPONENT;

/** Characters of a decimal, point included, up to which its double says the same number: any double holds 15 digits (IEEE 754). */
const SURE_LENGTH = 16;

/**
 * Reads one JSON number (RFC 8259 section 6) from pieces cut anywhere. A number has no end mark: the first character that
 * does not belong to it, or the end of the text, ends it.
 */
export class NumberScanner {
  #read = START;
  #kept = "";
  /** How the number that was taken last was written, where its double says another one. */
  spelling: string | undefined;

  /** What the next character must be, for a message. */
  get expected(): string {
    return this.#read === LEADING_ZERO ? "no digit behind a leading zero" : "a digit";
  }

  /** Whether what has been read is a number that may end here. */
  get complete(): boolean {
    const read = this.#read;
    return read === INTEGER || read === LEADING_ZERO || read === FRACTION || read === POWER;
  }

  /** Whether `code` cannot stand behind what has been read, though what has been read is a number: a digit behind `0`. */
  forbids(code: number): boolean {
    return this.#read === LEADING_ZERO && isDigit(code);
  }

  /** Reads on from `from`. Returns the index of the first character that does not belong to the number, or the length of `text`. */
  scan(text: string, from: number): number {
    let at = from;
    let read = this.#read;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const kind = code < 128 ? (KIND[code] as number) : STOP;
      const next = kind === STOP ? STOP : (NEXT[read * COLUMNS + kind] as number);
      if (next === STOP) break;
      read = next;
    }
    this.#read = read;
    this.#kept += text.slice(from, at);
    return at;
  }

  /** The number, exact when it is an integer. The scanner is then ready for the next one. */
  take(): number | bigint {
    const text = this.#kept;
    const number = Number(text);
    const whole = this.#read === INTEGER;
    const isSure = whole || (this.#read === FRACTION && text.length <= SURE_LENGTH);
    this.spelling = isSure || String(number) === text || isExact(text, number) ? undefined : text;
    this.#kept = "";
    this.#read = START;
    return whole && !Number.isSafeInteger(number) ? BigInt(text) : number;
  }
}
