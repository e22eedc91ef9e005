import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findGuardProblem, type Guard, readAllowed } from "../../../src/core/rules/guard.ts";
import { parseValuePath, type ValuePath } from "../../../src/core/rules/value-path.ts";

const paths = (...texts: string[]): ValuePath[] => texts.map((text) => parseValuePath(text) ?? []);

function guard(allow: string | undefined, more: Partial<Guard> = {}): Guard {
  const allowed = allow === undefined ? undefined : readAllowed(allow, "guard.allow");
  assert.ok(allowed === undefined || typeof allowed === "function");
  return { allowed, except: [], paths: [], ...more };
}

const characterIn = (allow: string, text: string) => {
  const problem = findGuardProblem(guard(allow), { text });
  return problem?.kind === "character" ? problem.character : undefined;
};

test("an allow-list is made of classes and of characters that are neither letters nor digits", () => {
  assert.equal(characterIn("letters digits _-./", "北京-Zürich_1.0/é"), undefined);
  assert.equal(characterIn("letters digits", "a b"), " ");
  assert.equal(characterIn("letters digits space", "a b"), undefined);
  assert.equal(characterIn("ascii_letters", "aé"), "é");
  assert.equal(characterIn("han", "北京a"), "a");
  assert.equal(characterIn("letters", "x𝟘"), "𝟘", "a character is named whole");
  assert.equal(characterIn("letters", "a\0"), "\0");
  assert.equal(characterIn("letters newline", "a\nb"), undefined);
  assert.equal(characterIn("letters punctuation", "a,b;"), undefined);
});

test("a misspelt class is refused, never taken for its letters", () => {
  for (const [allow, said] of [
    ["leters digits", /no class "leters"; did you mean "letters"/],
    ["abc", /no class "abc"/],
    ["_-0", /no class "_-0"/],
    [" ", /names no characters/],
  ] as const) {
    const fault = readAllowed(allow, "guard.allow");
    assert.ok(typeof fault === "object", allow);
    assert.match(`${fault.message}`, said);
  }
});

test("every string is looked at wherever it stands, except where the guard says not to", () => {
  const args = { a: "ok", list: [{ b: "no;" }], free: { text: ";" } };
  const found = findGuardProblem(guard("letters", { except: paths("free") }), args);
  assert.deepEqual(found, { kind: "character", path: ["list", 0, "b"], character: ";" });
  assert.equal(findGuardProblem(guard("letters", { except: paths("free", "list[].b") }), args), undefined);
  assert.equal(findGuardProblem(guard("letters"), { n: 5, yes: true, no: null }), undefined);
});

for (const [text, fault] of [
  ["a/b.txt", undefined],
  ["a..b/c", undefined],
  [".hidden", undefined],
  ["", undefined],
  ["../x", "parent"],
  ["a/../../x", "parent"],
  ["a\\..\\x", "parent"],
  ["%2e%2e/x", "parent"],
  ["a/%2E./x", "parent"],
  ["..%2fx", "parent"],
  ["/etc/passwd", "absolute"],
  ["\\\\host\\share", "absolute"],
  ["C:\\x", "absolute"],
  ["file:x", "absolute"],
  ["~/x", "absolute"],
  ["%2fetc", "absolute"],
  ["a\0b", "nul"],
  ["a%00b", "nul"],
] as const) {
  test(`${JSON.stringify(text)} as a path: ${fault ?? "inside"}`, () => {
    const problem = findGuardProblem(guard(undefined, { paths: paths("file") }), {
      file: text,
      other: "/etc",
    });
    assert.equal(problem?.kind === "path" ? problem.fault : problem, fault);
  });
}

test("no text of allowed characters is refused, and no other passes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const isFine = /^[\p{L}\p{M}0-9_]*$/u.test(text);
      assert.equal(findGuardProblem(guard("letters digits _"), { text }) === undefined, isFine);
    }),
  );
});
