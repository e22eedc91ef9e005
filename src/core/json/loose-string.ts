import { BACKSLASH, FIRST_PRINTABLE } from "./chars.ts";
import type { RepairName } from "./repair-names.ts";

/** How strings of one kind of quotes are written. */
interface Quoting {
  /** Every character that ends such a string. */
  readonly ends: string;
  /** A character that such a string cannot hold as it is: it may be an end that was spelt in another way. */
  readonly doubtful: string;
  readonly repair: RepairName | undefined;
}

const DOUBLE: Quoting = { ends: '"', doubtful: "", repair: undefined };
const SINGLE: Quoting = { ends: "'", doubtful: "", repair: "single_quotes" };
const SMART_DOUBLE: Quoting = { ends: "“”„‟", doubtful: '"', repair: "smart_quotes" };
const SMART_SINGLE: Quoting = { ends: "‘’‚‛", doubtful: "'", repair: "smart_quotes" };

const QUOTINGS: ReadonlyMap<string, Quoting> = new Map(
  [DOUBLE, SINGLE, SMART_DOUBLE, SMART_SINGLE].flatMap((quoting) =>
    [...quoting.ends].map((character): [string, Quoting] => [character, quoting]),
  ),
);

/** A string as JSON spells it. What is wrong with its escapes is left in it, for the strict parser to refuse. */
export interface LooseString {
  readonly json: string;
  /** Where the text goes on behind the closing quote. */
  readonly end: number;
  readonly repairs: readonly RepairName[];
  /** Delimited by apostrophes of any form. */
  readonly single: boolean;
}

/**
 * Reads the string whose opening quote stands at `at`; `undefined` if none stands there, if it is not closed, or if its end is
 * in doubt.
 *
 * 1. The first quote of the kind that opened it ends it: no quote inside is guessed.
 * 2. Raw control characters become escapes.
 * 3. Escapes are those of JSON. In single quotes `\'` is one more, and `\/` is none: Python and JavaScript read it differently.
 */
export function readLooseString(text: string, at: number): LooseString | undefined {
  const quoting = QUOTINGS.get(text.charAt(at));
  return quoting && new StringReader(text, at, quoting).read();
}

class StringReader {
  readonly #text: string;
  readonly #quoting: Quoting;
  readonly #single: boolean;
  #at: number;
  /** Text from here on is not in `#json` yet. */
  #from: number;
  #json = '"';
  #hasControl = false;

  constructor(text: string, open: number, quoting: Quoting) {
    this.#text = text;
    this.#quoting = quoting;
    this.#single = quoting === SINGLE || quoting === SMART_SINGLE;
    this.#at = open + 1;
    this.#from = open + 1;
  }

  read(): LooseString | undefined {
    const text = this.#text;
    const { ends, doubtful } = this.#quoting;
    for (; this.#at < text.length; this.#at++) {
      const character = text.charAt(this.#at);
      if (ends.includes(character)) return this.#closed();
      if (character === doubtful) return undefined;
      if (!this.#respell(character)) return undefined;
    }
    return undefined;
  }

  #closed(): LooseString {
    this.#instead('"');
    const { repair } = this.#quoting;
    const repairs: RepairName[] = repair ? [repair] : [];
    if (this.#hasControl) repairs.push("raw_control_character");
    return { json: this.#json, end: this.#from, repairs, single: this.#single };
  }

  /** Spells one character of the content, or an escape, as JSON does; `false` if it can mean two things. */
  #respell(character: string): boolean {
    const code = character.charCodeAt(0);
    if (code === BACKSLASH) return this.#escape();
    if (code < FIRST_PRINTABLE) {
      this.#hasControl = true;
      this.#instead(JSON.stringify(character).slice(1, -1));
    } else if (character === '"') this.#instead('\\"');
    return true;
  }

  #escape(): boolean {
    const next = this.#text.charAt(this.#at + 1);
    if (this.#quoting === SINGLE) {
      if (next === "/") return false;
      if (next === "'") this.#instead("");
    }
    this.#at++;
    return true;
  }

  /** Puts `spelling` in the place of the character that is being read. */
  #instead(spelling: string): void {
    this.#json += this.#text.slice(this.#from, this.#at) + spelling;
    this.#from = this.#at + 1;
  }
}
