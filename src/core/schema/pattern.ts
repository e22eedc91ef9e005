import { RE2JS } from "re2js";
import { spellForRe2 } from "./ecma-pattern.ts";

/** How long a pattern may be, in characters. */
export const MAX_PATTERN_LENGTH = 256;
/** Instructions of all programs of one schema together; compiling them takes some 50 ms. */
const MAX_PROGRAM = 10_000;
/** Instructions times characters for one step of a check: between 10 ns and 1 µs. */
const WORK_PER_STEP = 64;

/** A regular expression whose time is linear in the text. */
export interface Pattern {
  test(text: string): boolean;
  /** Tells patterns apart; ajv shares what has the same text. */
  toString(): string;
}

/** Whatever pays for the work; it throws when there is nothing left. */
interface Account {
  charge(steps: number): void;
}

/**
 * The patterns of one schema, compiled for RE2: matching takes time linear in text and program, so that none can backtrack,
 * and each match is charged to the check that runs.
 */
export class Patterns {
  readonly #state: Account;
  readonly #compiled = new Map<string, Pattern>();
  #size = 0;

  constructor(state: Account) {
    this.#state = state;
  }

  /**
   * The pattern of a `pattern` keyword or a key of `patternProperties`. Throws an `Error` that says why it cannot be used:
   * look-around and back-references do not exist in RE2, and repetition has its bounds.
   */
  get(source: string): Pattern {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    if (this.#size > MAX_PROGRAM) throw new Error("the patterns of this schema are too large together");
    const program = compilePattern(source);
    const size = program.programSize();
    this.#size += size;
    const pattern: Pattern = {
      test: (text) => {
        this.#state.charge(Math.ceil((size * text.length) / WORK_PER_STEP));
        return program.test(text);
      },
      toString: () => source,
    };
    this.#compiled.set(source, pattern);
    return pattern;
  }
}

/** The program of a pattern. Throws an `Error` that says why it cannot be used. */
export function compilePattern(source: string): RE2JS {
  if (/\(\?<?[=!]/.test(source)) {
    throw new Error("look-around is not supported; split the pattern into several under allOf");
  }
  return RE2JS.compile(RE2JS.translateRegExp(spellForRe2(source)));
}
