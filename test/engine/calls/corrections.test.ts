import assert from "node:assert/strict";
import { test } from "node:test";
import { Corrections, type Refused } from "../../../src/engine/calls/corrections.ts";

const wrong = (path: string, problem = "type"): Refused => ({
  gate: "schema",
  code: "arguments_invalid",
  problem,
  path,
});

type Call = [tool: string, refused?: Refused];

/** How chains ended, and after which rounds the limit of 2 was reached. */
function played(...rounds: Call[][]) {
  const ended: string[] = [];
  const corrections = new Corrections(2, (outcome) => void ended.push(outcome));
  const spent = rounds.map((calls) => {
    corrections.count(calls.map(([name, refused]) => ({ name, refused })));
    return corrections.isSpent;
  });
  corrections.end();
  return { ended, spent };
}

test("a call that passes in a later round ends the chain corrected", () => {
  assert.deepEqual(played([["a", wrong("/x")]], [["a", wrong("/y")]], [["a"]]).ended, ["corrected"]);
  assert.deepEqual(played([["a"]], [["a"]]).ended, []);
});

test("a call that passes beside a refusal has not corrected it", () => {
  assert.deepEqual(played([["a", wrong("/x")], ["a"]]).ended, ["abandoned"]);
  assert.deepEqual(played([["a", wrong("/x")]], [["a"], ["a", wrong("/x")]]).ended, [
    "corrected",
    "abandoned",
  ]);
});

test("the same problem as often as corrections are allowed is given up, whatever the value was", () => {
  assert.deepEqual(played([["a", wrong("/x")]], [["a", wrong("/x")]]), {
    ended: ["gave_up"],
    spent: [false, true],
  });
  assert.deepEqual(
    played([
      ["a", wrong("/x")],
      ["a", wrong("/x")],
    ]).spent,
    [true],
  );
});

test("other kinds or places are other problems: they end it at twice as many", () => {
  const rounds: Call[][] = [wrong("/1"), wrong("/2"), wrong("/1"), wrong("/1", "enum")].map((one) => [
    ["a", one],
  ]);
  assert.deepEqual(played(...rounds), { ended: ["gave_up"], spent: [false, false, false, true] });
});

test("each tool has its own chain; what is open at the end is abandoned", () => {
  assert.deepEqual(
    played(
      [
        ["a", wrong("/x")],
        ["b", wrong("/x")],
      ],
      [["a"]],
    ),
    {
      ended: ["corrected", "abandoned"],
      spent: [false, false],
    },
  );
  const rounds: Call[][] = [[["a", wrong("/x")]], [["a"]], [["a", wrong("/x")]], [["a", wrong("/x")]]];
  assert.deepEqual(played(...rounds), {
    ended: ["corrected", "gave_up"],
    spent: [false, false, false, true],
  });
});

const context = (problem: string, code = "approval_required"): Refused => ({
  gate: "context",
  code,
  problem,
});

test("an approval that is missing opens no chain, and the arguments before it were corrected", () => {
  assert.deepEqual(played([["a", context("approval")]]).ended, []);
  assert.deepEqual(played([["a", wrong("/x")]], [["a", context("approval")]]).ended, ["corrected"]);
  assert.deepEqual(played([["a", context("approval")]], [["a", context("approval")]]), {
    ended: [],
    spent: [false, true],
  });
});

test("a repaired write must be sent again: that is a correction", () => {
  assert.deepEqual(played([["a", context("repaired")]], [["a", context("approval")]]).ended, ["corrected"]);
});

test("unknown names open no chain, but do not go on for ever", () => {
  const unknown: Refused = { code: "tool_not_found", problem: "unknown_tool" };
  assert.deepEqual(played([["x", unknown]], [["x", unknown]]), { ended: [], spent: [false, true] });
});

test("the limits of a run count for nothing here", () => {
  const limit: Refused = { code: "too_many_tool_calls", problem: "tool_calls" };
  const late: Refused = { code: "tools_phase_over", problem: "tools_phase" };
  assert.deepEqual(
    played(
      [
        ["a", limit],
        ["a", limit],
      ],
      [
        ["a", late],
        ["a", late],
      ],
    ),
    {
      ended: [],
      spent: [false, false],
    },
  );
  const stopped: Refused = { gate: "syntax", code: "reply_stopped", problem: "stopped" };
  assert.deepEqual(
    played([
      ["a", stopped],
      ["a", stopped],
    ]),
    { ended: [], spent: [false] },
  );
  assert.deepEqual(
    played(
      [["a", wrong("/x")]],
      [
        ["a", limit],
        ["a", stopped],
      ],
    ).ended,
    ["abandoned"],
  );
  assert.deepEqual(played([["a", wrong("/x")]], [["a", late]]).ended, ["corrected"]);
});

test("a check that could not be made is nothing that the model can correct", () => {
  const unavailable: Refused = { gate: "rules", code: "check_unavailable", problem: "remote" };
  assert.deepEqual(played([["a", unavailable]], [["a"]]).ended, []);
});
