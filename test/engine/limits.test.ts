import assert from "node:assert/strict";
import { test } from "node:test";
import { type LimitState, type Limits, runOver } from "../../src/engine/limits.ts";

const LIMITS: Limits = {
  rounds: 3,
  tool_calls: 5,
  corrections: 2,
  run_ms: 100,
  parallel_calls: 8,
  tools_phase_ms: 10,
};

const state = (change: Partial<LimitState> = {}): LimitState => ({
  rounds: 0,
  toolCalls: 0,
  elapsedMs: () => 0,
  corrections: { isSpent: false },
  loops: { isLoop: false },
  isBudgetSpent: () => false,
  ...change,
});

for (const [name, used, over] of [
  ["nothing is used up", {}, undefined],
  ["one round is left", { rounds: 2 }, undefined],
  ["the rounds are used up", { rounds: 3 }, "max_rounds"],
  ["one call is left", { toolCalls: 4 }, undefined],
  ["the calls are used up", { toolCalls: 5 }, "max_tool_calls"],
  ["the time is over", { elapsedMs: () => 100 }, "timeout"],
  ["the run goes in circles", { loops: { isLoop: true } }, "loop_guard"],
  ["the budget is spent", { rounds: 3, isBudgetSpent: () => true }, "budget"],
  ["corrections are used up", { rounds: 3, corrections: { isSpent: true } }, "loop_guard"],
  [
    "everything is used up",
    { rounds: 3, toolCalls: 5, loops: { isLoop: true }, elapsedMs: () => 100 },
    "loop_guard",
  ],
  ["rounds and calls are used up", { rounds: 3, toolCalls: 5 }, "max_tool_calls"],
] as [string, Partial<LimitState>, string | undefined][]) {
  test(`${name}: ${over ?? "the run goes on"}`, () => assert.equal(runOver(state(used), LIMITS), over));
}
