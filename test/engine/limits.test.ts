import assert from "node:assert/strict";
import { test } from "node:test";
import { countRefusals, type LimitState, type Limits, runOver } from "../../src/engine/limits.ts";

const LIMITS: Limits = { rounds: 3, tool_calls: 5, corrections: 2, run_ms: 100, tools_phase_ms: 10 };

const state = (change: Partial<LimitState> = {}): LimitState => ({
  rounds: 0,
  toolCalls: 0,
  elapsedMs: () => 0,
  refusals: new Map(),
  repeats: 0,
  ...change,
});

for (const [name, used, over] of [
  ["nothing is used up", {}, undefined],
  ["one round is left", { rounds: 2 }, undefined],
  ["the rounds are used up", { rounds: 3 }, "max_rounds"],
  ["one call is left", { toolCalls: 4 }, undefined],
  ["the calls are used up", { toolCalls: 5 }, "max_tool_calls"],
  ["the time is over", { elapsedMs: () => 100 }, "timeout"],
  ["a call was repeated once", { repeats: 2 }, undefined],
  ["a call was repeated twice", { repeats: 3 }, "loop_guard"],
  ["everything is used up", { rounds: 3, toolCalls: 5, repeats: 3, elapsedMs: () => 100 }, "loop_guard"],
  ["rounds and calls are used up", { rounds: 3, toolCalls: 5 }, "max_tool_calls"],
] as [string, Partial<LimitState>, string | undefined][]) {
  test(`${name}: ${over ?? "the run goes on"}`, () => assert.equal(runOver(state(used), LIMITS), over));
}

/** Whether the run is over after each of the rounds; a round is the refusals of its calls, by tool. */
function afterEach(rounds: readonly [tool: string, refused: string | undefined][][]): boolean[] {
  const used = state();
  return rounds.map((calls) => {
    countRefusals(
      used,
      calls.map(([name, refused]) => ({ name, refused })),
    );
    return runOver(used, LIMITS) === "loop_guard";
  });
}

test("the same explanation as often as corrections are allowed ends the run", () => {
  assert.deepEqual(afterEach([[["a", "x"]], [["a", "x"]]]), [false, true]);
  assert.deepEqual(
    afterEach([
      [
        ["a", "x"],
        ["a", "x"],
      ],
    ]),
    [true],
  );
});

test("other explanations for the same tool end it at twice as many", () => {
  assert.deepEqual(afterEach([[["a", "1"]], [["a", "2"]], [["a", "3"]], [["a", "4"]]]), [
    false,
    false,
    false,
    true,
  ]);
});

test("each tool is counted for itself, and one that passed begins anew", () => {
  assert.deepEqual(
    afterEach([
      [
        ["a", "x"],
        ["b", "x"],
      ],
      [["c", "x"]],
    ]),
    [false, false],
  );
  assert.deepEqual(afterEach([[["a", "x"]], [["a", undefined]], [["a", "x"]], [["a", "x"]]]), [
    false,
    false,
    false,
    true,
  ]);
});
