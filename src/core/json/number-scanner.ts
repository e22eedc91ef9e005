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

/**
 * Below this, the digits of a number without an exponent are a double themselves, and doubles lie closer together than decimals of
 * as many places: the number is worked out from its digits, and its double says no other one.
 */
const MAX_SURE_DIGITS = 2 ** 52;
/** Powers of ten that a double holds exactly. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, power) => 10 ** power);

/**
 * Reads one JSON number (RFC 8259 section 6) from pieces cut anywhere. A number has no end mark: the first character that
 * does not belong to it, or the end of the text, ends it.
 */
export class NumberScanner {
  #read = START;
  #kept = "";
  /** All digits as one integer, and how many of them stand behind the point. */
  #digits = 0;
  #decimals = 0;
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
    let digits = this.#digits;
    let decimals = this.#decimals;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const kind = code < 128 ? (KIND[code] as number) : STOP;
      const next = kind === STOP ? STOP : (NEXT[read * COLUMNS + kind] as number);
      if (next === STOP) break;
      read = next;
      if (kind <= DIGIT) digits = digits * 10 + (code - 0x30);
      if (read === FRACTION) decimals++;
    }
    this.#read = read;
    this.#digits = digits;
    this.#decimals = decimals;
    this.#kept += text.slice(from, at);
    return at;
  }

  /** The number, exact when it is an integer. The scanner is then ready for the next one. */
  take(): number | bigint {
    const isPlain = this.#read !== POWER && this.#decimals < POWERS_OF_TEN.length;
    const number = isPlain && this.#digits < MAX_SURE_DIGITS ? this.#fromDigits() : this.#fromText();
    this.#kept = "";
    this.#digits = 0;
    this.#decimals = 0;
    this.#read = START;
    return number;
  }

  #fromDigits(): number {
    this.spelling = undefined;
    // Both are exact, so the quotient is the double nearest to the decimal.
    const number = this.#digits / (POWERS_OF_TEN[this.#decimals] as number);
    return this.#kept.startsWith("-") ? -number : number;
  }

  #fromText(): number | bigint {
    const text = this.#kept;
    const number = Number(text);
    if (this.#read === INTEGER) {
      this.spelling = undefined;
      return Number.isSafeInteger(number) ? number : BigInt(text);
    }
    this.spelling = String(number) === text || isExact(text, number) ? undefined : text;
    return number;
  }
}
