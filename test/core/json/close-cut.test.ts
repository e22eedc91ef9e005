import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { closeCut } from "../../../src/core/json/close-cut.ts";

for (const [cut, closed] of [
  ["[1,2", "[1]"],
  ['{"a":tru', "{}"],
  ['{"a":1,"b', '{"a":1}'],
  ['{"a":1,"b":', '{"a":1}'],
  ['{"a":"x', '{"a":"x…"}'],
  ['["x\\', '["x…"]'],
  ['["x\\u12', '["x…"]'],
  ['["x\\\\', '["x\\\\…"]'],
  ['[{"a":[1]', '[{"a":[1]}]'],
  ['["a","', '["a","…"]'],
  ["[", "[]"],
  ["[1]", undefined],
  ["12", undefined],
  ['"abc', undefined],
] as const) {
  test(`closed: ${cut}`, () => assert.equal(closeCut(cut), closed));
}

test("any JSON cut anywhere is closed to a part of it", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), fc.nat(), (text, at) => {
      const whole: unknown = JSON.parse(text);
      if (typeof whole !== "object" || whole === null) return;
      const closed = closeCut(text.slice(0, 1 + (at % text.length)));
      if (closed === undefined) return;
      assert.ok(isPart(JSON.parse(closed), whole), closed);
    }),
    { numRuns: 3000 },
  );
});

/** Whether a closed value says nothing that the whole did not. */
function isPart(short: unknown, whole: unknown): boolean {
  if (typeof short === "string" && typeof whole === "string") {
    return short === whole || (short.endsWith("…") && whole.startsWith(short.slice(0, -1)));
  }
  if (typeof short !== "object" || typeof whole !== "object" || !short || !whole)
    return Object.is(short, whole);
  return Object.entries(short).every(([key, item]) => isPart(item, (whole as Record<string, unknown>)[key]));
}
