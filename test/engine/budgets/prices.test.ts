import assert from "node:assert/strict";
import { test } from "node:test";
import { amountOf, tokenCounts } from "../../../src/engine/budgets/prices.ts";

const PRICES = [
  { match: "small-*", input: 150_000, output: 600_000 },
  { match: "*", input: 2_500_000, output: 10_000_000 },
];

test("a cost is the exact sum, rounded up to a whole millionth, by the first price that fits", () => {
  const cost = (model: string, input: number, output: number) =>
    amountOf(PRICES, model, { input, output }).cost_micros;
  assert.equal(cost("big", 1_000_000, 0), 2_500_000);
  assert.equal(cost("big", 3, 1), 18);
  assert.equal(cost("small-1", 1, 0), 1);
  assert.equal(cost("small-1", 20, 0), 3);
  assert.equal(cost("big", 9_007_199_254, 1), 22_517_998_145);
  assert.deepEqual(amountOf([], "big", { input: 2, output: 3 }), { tokens: 5, cost_micros: 0 });
});

for (const [name, usage, counts] of [
  ["both", { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, { input: 3, output: 4 }],
  [
    "a total with more than both",
    { prompt_tokens: 3, completion_tokens: 4, total_tokens: 10 },
    { input: 3, output: 7 },
  ],
  ["a total only", { total_tokens: 10 }, { input: 0, output: 10 }],
  ["no total", { prompt_tokens: 3, completion_tokens: 4 }, { input: 3, output: 4 }],
  ["nothing", {}, undefined],
  ["no usage", undefined, undefined],
  ["no counts", { prompt_tokens: -1, completion_tokens: 1.5, total_tokens: "7" }, undefined],
] as const) {
  test(`tokens are counted from a usage that says ${name}`, () => {
    assert.deepEqual(tokenCounts(usage), counts);
  });
}
