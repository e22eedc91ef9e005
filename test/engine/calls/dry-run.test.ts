import assert from "node:assert/strict";
import { test } from "node:test";
import { callStream, textStream } from "../../support/chunks.ts";
import { toolNamed } from "../../support/engine.ts";
import { fakeKeptTurns } from "../../support/kept-turns.ts";
import { answersIn } from "../../support/messages.ts";
import { ASK, askCall, perform, weather } from "../../support/perform.ts";
import { chunksOf } from "../../support/sink.ts";

const dry = { dryRun: true, events: true };

test("every gate judges, nothing is sent, and the model reads the arguments as the tool would have got them", async () => {
  const parameters = { type: "object", properties: { id: { type: "integer" }, days: { type: "integer" } } };
  const tools = [toolNamed("get_order", { parameters }), toolNamed("put", { level: "write" })];
  const calls = [
    { id: "c1", name: "get_order", args: '{"id":12345678901234567890,"days":"3"}' },
    { id: "c2", name: "get_order", args: '{"id":"x"}' },
    { id: "c3", name: "put", args: '{"city":"x"}' },
  ];
  const { transport, target, run, ending, stop } = await perform(
    [callStream(...calls), textStream("Done.")],
    { ...dry, tools },
  );
  assert.equal(transport.sent.length, 0);
  assert.equal(stop, "completed");
  const [first, second, third] = answersIn(target.asked(1));
  assert.deepEqual([first?.success, second?.success, third?.success], [true, false, true]);
  const content = String((target.asked(1)["messages"] as { content: unknown }[])[2]?.content);
  assert.ok(
    content.includes(
      '"data":{"dry_run":true,"message":"validated, not run","arguments":{"id":12345678901234567890,"days":3}}',
    ),
    content,
  );
  assert.deepEqual(
    run.record.rounds[0]?.calls.map(({ outcome, attempts }) => [outcome, attempts]),
    [
      ["dry_run", 0],
      ["rejected", 0],
      ["dry_run", 0],
    ],
  );
  assert.deepEqual(
    ending.summary.tools.flatMap(({ call_id, ok, dry_run }) => (dry_run ? [[call_id, ok]] : [])),
    [
      ["c1", true],
      ["c3", true],
    ],
  );
});

test("the progress says that a call was not run, and nothing is counted as run", async () => {
  const { text, scope } = await perform([callStream(weather("1")), textStream("x")], dry);
  const events = chunksOf(text).flatMap(({ toolweir }) => (toolweir?.["type"] ? [toolweir] : []));
  assert.deepEqual(
    events.map(({ type, dry_run }) => [type, dry_run]),
    [
      ["tool.args", undefined],
      ["tool.completed", true],
    ],
  );
  const names = scope.notes.map(([name]) => name);
  assert.ok(names.includes("verdict"));
  assert.ok(!names.includes("tool"));
});

test("a mixed turn is kept as usual, and the same call again is answered from what is known", async () => {
  const keptTurns = fakeKeptTurns();
  const mixed = await perform([callStream(weather("s1"), askCall)], {
    ...dry,
    keptTurns,
    request: { tools: [ASK] },
  });
  assert.deepEqual([mixed.stop, mixed.transport.sent.length], ["client_tools", 0]);
  assert.match(JSON.stringify(keptTurns.kept[0]?.turn.results), /validated, not run/);
  const again = await perform(
    [callStream(weather("1")), callStream(weather("2", "1")), textStream("x")],
    dry,
  );
  const outcomes = again.run.record.rounds.flatMap(({ calls }) => calls.map(({ outcome }) => outcome));
  assert.deepEqual([outcomes, again.transport.sent.length], [["dry_run", "known"], 0]);
});
