import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { exampleOfPattern } from "../../src/core/tool-lint-pattern.ts";

for (const [pattern, example] of [
  ["^[A-Z]-[0-9]{1,8}$", "A-0"],
  ["^\\+?\\d{7,15}$", "1111111"],
  ["^(?:low|high)$", "low"],
  ["^(?<year>\\d{4})-(0[1-9]|1[0-2])$", "1111-01"],
  ["^[^/]+/[\\w.-]*$", "x/a"],
  ["^a(b(c|d)|e)+f?$", "abc"],
  ["ab", "ab"],
  ["^\\$\\d+\\.\\d\\d$", "$1.11"],
  ["^[a-z]{100}$", undefined],
  ["^a\\b$", "a"],
  ["^[]$", undefined],
  ["^\\p{L}+$", undefined],
  ["^(a", undefined],
  [`^${"a".repeat(300)}$`, undefined],
] as const) {
  test(`an example of ${pattern.slice(0, 40)} is ${example === undefined ? "not found" : `"${example}"`}`, () => {
    assert.equal(exampleOfPattern(pattern), example);
  });
}

test("whatever stands in a pattern, what comes out matches it", () => {
  const piece = fc.constantFrom(
    "a",
    "[b-d]",
    "[^x]",
    "\\d",
    "(",
    ")",
    "|",
    "?",
    "*",
    "{2,3}",
    "(?:",
    "^",
    "$",
    "\\",
    "[",
    "]",
    ".",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const pattern = pieces.join("");
      const example = exampleOfPattern(pattern);
      if (example !== undefined && isExpression(pattern)) assert.match(example, new RegExp(pattern));
    }),
    { numRuns: 300 },
  );
});

/** RE2 accepts a little more than ECMAScript, for example an assertion that is repeated. */
function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}
