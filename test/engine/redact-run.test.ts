import assert from "node:assert/strict";
import { test } from "node:test";
import { redactRun } from "../../src/engine/redact-run.ts";
import type { RunRecord } from "../../src/engine/run-record.ts";

const SECRET = "S3CRET";

const gates = [
  { gate: "syntax", pass: true, repairs: ["comment"] },
  {
    gate: "schema",
    pass: false,
    problem: "type",
    feedback: `"city" is ${SECRET}`,
    changes: [
      { path: "/city", from: SECRET, to: { deep: [SECRET] } },
      { path: "/unit", to: SECRET },
    ],
  },
];

const RECORD: RunRecord = {
  run_id: "run_1",
  session_id: "s",
  model: "m",
  stream: false,
  tools_offered: ["get_weather"],
  started_at: "2030-01-01T00:00:00.000Z",
  ended_at: "2030-01-01T00:00:01.000Z",
  stop_reason: "completed",
  error: null,
  rounds: [
    {
      round: 1,
      upstream: "main",
      protocol: "native",
      finish_reason: "tool_calls",
      thought: SECRET,
      duration_ms: 1,
      usage: null,
      calls: [
        {
          call_id: "call_1",
          name: "get_weather",
          owner: "gateway",
          raw: `{"city":"${SECRET}"}`,
          reading: "plain",
          thought: SECRET,
          hopeless: { path: "city", problem: "type", feedback: SECRET, after: 4 },
          gates,
          outcome: "rejected",
          attempts: 0,
          duration_ms: 1,
          state: { set: ["a"], faults: [{ key: "b", reason: SECRET }] },
          policy: [
            {
              tool: "get_weather",
              class: "transient",
              action: "fallback",
              fallback: {
                tool: "other",
                outcome: "ok",
                gates: gates as never,
                attempts: 1,
                duration_ms: 1,
              },
            },
          ],
        },
      ],
    },
  ],
};

test("a redacted record has nothing of the conversation, and all that happened", () => {
  const before = JSON.stringify(RECORD);
  const redacted = redactRun(RECORD);
  assert.equal(JSON.stringify(redacted).includes(SECRET), false);
  assert.equal(JSON.stringify(RECORD), before);
  const [call] = redacted.rounds[0]?.calls ?? [];
  assert.equal(call?.raw, "[redacted: 17 characters]");
  assert.deepEqual(
    call?.gates.map(({ gate, pass, problem }) => [gate, pass, problem]),
    [
      ["syntax", true, undefined],
      ["schema", false, "type"],
    ],
  );
  assert.deepEqual(call?.gates[1]?.changes, [
    { path: "/city", from: "[redacted]", to: "[redacted]" },
    { path: "/unit", to: "[redacted]" },
  ]);
  assert.deepEqual(redacted.rounds[0]?.usage, RECORD.rounds[0]?.usage);
  assert.equal(call?.policy?.[0]?.fallback?.tool, "other");
});
