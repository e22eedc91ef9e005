import assert from "node:assert/strict";
import { test } from "node:test";
import { newId, randomHex } from "../../src/engine/new-id.ts";

test("ids have their prefix and 32 hexadecimal digits, and no two are alike", () => {
  const ids = Array.from({ length: 10_000 }, () => newId("run_"));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^run_[0-9a-f]{32}$/);
});

test("digits are drawn afresh whatever length is asked for", () => {
  const drawn = Array.from({ length: 5_000 }, (_, at) => randomHex(8 + (at % 9)));
  assert.deepEqual(
    drawn.map((digits) => digits.length),
    drawn.map((_, at) => 2 * (8 + (at % 9))),
  );
  assert.equal(new Set(drawn).size, drawn.length);
});
