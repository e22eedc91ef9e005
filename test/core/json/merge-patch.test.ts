import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mergePatch } from "../../../src/core/json/merge-patch.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

/** A JSON value without null, which a merge patch cannot write. */
const withoutNull = fc
  .jsonValue()
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll("null", "0")) as JsonValue);

test("members are replaced, removed by null, and merged when both are objects", () => {
  const target = { a: 1, b: { c: [1, 2], d: 2 }, e: "x" };
  assert.deepEqual(mergePatch(target, { a: null, b: { c: [3], d: null, f: true }, g: { h: null, i: 1 } }), {
    b: { c: [3], f: true },
    e: "x",
    g: { i: 1 },
  });
  assert.deepEqual(target, { a: 1, b: { c: [1, 2], d: 2 }, e: "x" });
});

test("a patch that is no object replaces the whole", () => {
  for (const patch of [null, 5, "x", [1]]) assert.deepEqual(mergePatch({ a: 1 }, patch), patch);
  assert.deepEqual(mergePatch([1], { a: 1 }), { a: 1 });
});

test("an empty patch changes nothing, and a patch without null onto nothing is itself", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), withoutNull, (target, patch) => {
      assert.deepEqual(mergePatch(target as JsonValue, {}), { ...target });
      assert.deepEqual(mergePatch(undefined, patch), patch);
    }),
  );
});

test("__proto__ is a key like any other", () => {
  const patch = JSON.parse('{"__proto__": {"polluted": true}}') as JsonValue;
  const merged = mergePatch({ a: 1 }, patch) as object;
  assert.equal("polluted" in merged, false);
  assert.deepEqual(Object.keys(merged), ["a", "__proto__"]);
});
