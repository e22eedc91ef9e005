import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { CheckState, TooComplex } from "../../../src/core/schema/check-state.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { Patterns } from "../../../src/core/schema/pattern.ts";

function matches(source: string, text: string): boolean {
  return new Patterns(new CheckState()).get(source).test(text);
}

/** Patterns and pieces of text on which engines are known to differ. */
const SOURCES = [
  "^\\s*\\S+\\s*$",
  "^.$",
  "^[\\s\\S]$",
  "^[^\\s]+$",
  "a$",
  "^\\d{2,4}$",
  "^\\w+$",
  "[\\b]",
  "^[[:alpha:]\\]$",
  "^\\u00e9$",
  "^\\uD83D\\uDE00$",
  "^\\u{1F600}$",
  "^[\\u4e00-\\u9fa5]+$",
  "^\\p{Letter}+$",
  "^\\p{Script=Greek}$",
  "^\\P{L}$",
  "^\\p{Lu}",
  "^[^]$",
  "(?<year>\\d+)-",
  "^\\cJ$",
  "^\\/a",
  "\\.",
  "^a|b$",
  "^(?:a?){3}$",
  "^\\x41$",
  "\\bfoo\\b",
  "^[\\w.+-]+@[\\w-]+\\.[\\w.]+$",
];
const TEXTS = [
  "",
  "a",
  "A",
  "é",
  "\n",
  "\r",
  "\u2028",
  "\u00a0",
  "\ufeff",
  "\v",
  "\u180e",
  " ",
  "😀",
  "中文",
  "α",
  "α1",
  "12",
  "12345",
  "\b",
  "[a]",
  ":]",
  "l]",
  "foo bar",
  "a\n",
  "2024-01",
  "/a",
  "x@y.z",
  "b",
  "aaa",
  "\u0000",
  "_",
  "-",
];

describe("patterns", () => {
  for (const source of SOURCES) {
    it(`mean what they mean in ECMAScript: ${source}`, () => {
      const native = new RegExp(source, "u");
      for (const text of TEXTS) assert.equal(matches(source, text), native.test(text), JSON.stringify(text));
    });
  }

  it("mean so for any text", () => {
    const unit = fc.constantFrom(...TEXTS);
    fc.assert(
      fc.property(fc.constantFrom(...SOURCES), fc.array(unit), (source, parts) => {
        assert.equal(matches(source, parts.join("")), new RegExp(source, "u").test(parts.join("")));
      }),
    );
  });

  it("with a look-around or a back-reference are refused, with the reason", () => {
    for (const source of ["(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b"]) {
      assert.throws(() => matches(source, ""), /look-around is not supported/, source);
    }
    assert.throws(() => matches("(a)\\1", ""), /invalid escape sequence/);
  });

  it("that can backtrack for hours elsewhere are judged at once", () => {
    const started = performance.now();
    for (const source of ["^(a+)+$", "^(a|a)*b$", "^(.*a){20}$", "(x+x+)+y"]) {
      assert.equal(matches(source, `${"a".repeat(10_000)}!`), false);
    }
    assert.ok(performance.now() - started < 5_000);
  });

  it("of one schema are bounded together", () => {
    const pattern = (at: number) => `^[a-z]{1,900}${at}$`;
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`p${at}`, { pattern: pattern(at) }]),
    );
    assert.throws(() => compileSchema({ properties }), /too large together/);
  });

  it("are charged to the check, which ends when it is too much", () => {
    const state = new CheckState();
    const pattern = new Patterns(state).get("^(?:.?){1,999}$");
    state.begin();
    assert.throws(() => {
      for (let round = 0; round < 1_000; round++) pattern.test("x".repeat(10_000));
    }, TooComplex);
  });
});
