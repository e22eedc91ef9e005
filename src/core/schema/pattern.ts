import { RE2JS } from "re2js";
import type { CheckState } from "./check-state.ts";

/** How long a pattern may be, in characters. */
export const MAX_PATTERN_LENGTH = 256;

/** A regular expression whose time is linear in the text. */
export interface Pattern {
  test(text: string): boolean;
  /** Tells patterns apart; ajv shares what has the same text. */
  toString(): string;
}

/**
 * Compiles a `pattern` of JSON Schema for RE2, whose matching time is linear in text and program, so that no pattern can
 * backtrack. Each test is charged to `state`. Throws an `Error` that says what RE2 cannot do: look-around,
 * back-references, repetition beyond 1,000.
 */
export function compilePattern(source: string, state: CheckState): Pattern {
  const program = RE2JS.compile(RE2JS.translateRegExp(source));
  const size = program.programSize();
  return {
    test(text) {
      state.charge((size * (text.length + 1)) >> 5);
      return program.test(text);
    },
    toString: () => source,
  };
}

/** What is wrong with a pattern, or `undefined` if it can be used. */
export function patternFault(source: string): string | undefined {
  if (/\(\?<?[=!]/.test(source))
    return "uses a look-around, which is not supported; split it into several patterns under allOf.";
  try {
    RE2JS.compile(RE2JS.translateRegExp(source));
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "unknown";
    return `is not a regular expression that can be matched in linear time: ${reason}.`;
  }
}
