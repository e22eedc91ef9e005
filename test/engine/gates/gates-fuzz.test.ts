import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzGates } from "../../support/gate-fuzz.ts";

test("calls of every kind are judged alike in fragments and whole, quickly and without an exception", (t) => {
  const { counts, slowestMs } = fuzzGates(2);
  t.diagnostic(`slowest ${slowestMs.toFixed(1)} ms; ${JSON.stringify(counts)}`);
  assert.ok(Object.keys(counts).length > 0);
});
