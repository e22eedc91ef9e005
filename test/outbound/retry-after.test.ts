import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRetryAfter } from "../../src/outbound/retry-after.ts";

const NOW = Date.parse("Wed, 21 Oct 2026 07:28:00 GMT");

for (const [value, ms] of [
  ["2", 2000],
  [" 0.5 ", 500],
  ["0", 0],
  ["Wed, 21 Oct 2026 07:28:03 GMT", 3000],
  ["Wed, 21 Oct 2026 07:27:00 GMT", 0],
  [["3", "9"], 3000],
  ["-1", undefined],
  ["soon", undefined],
  ["2027", 2_027_000],
  ["", undefined],
  [undefined, undefined],
] as const) {
  test(`retry-after ${JSON.stringify(value)} is ${ms} ms`, () =>
    assert.equal(parseRetryAfter(value, NOW), ms));
}
