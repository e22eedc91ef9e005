import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolFailure } from "../../../src/engine/ports/tools.ts";
import type { CallPiece } from "../../support/chunks.ts";
import { callStream, textStream } from "../../support/chunks.ts";
import { fakeTransport, play, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { fakeTarget } from "../../support/upstream.ts";

const city = (name: string, id: string, value: string): CallPiece => ({
  id,
  name,
  args: `{"city":"${value}"}`,
});

/** Plays rounds of calls and a last one of text. */
async function rounds(scene: Partial<Scene>, ...calls: readonly CallPiece[][]) {
  const target = fakeTarget([...calls.map((list) => callStream(...list)), textStream("Done.")]);
  const transport = scene.transport ?? fakeTransport();
  const played = await play({ tools: [toolNamed("get_weather")], ...scene, transport, targets: [target] });
  return { ...played, target };
}

test("every call is answered once, in the model's order, whatever becomes of it", async () => {
  const transport = fakeTransport(({ tool }) =>
    tool === "broken" ? toolReply({ error: "no" }, { status: 500 }) : toolReply({ t: 1 }),
  );
  const tools = [
    toolNamed("get_weather"),
    toolNamed("broken"),
    toolNamed("put", { rules: [{ check: "false", message: "Not today." }] }),
  ];
  const calls = [
    city("get_weather", "c1", "Oslo"),
    city("broken", "c2", "Oslo"),
    { id: "c3", name: "get_weather", args: '{"city":' },
    { id: "c4", name: "get_weather", args: '{"town":"x"}' },
    city("nobody", "c5", "x"),
    city("put", "c6", "x"),
    city("get_weather", "c7", "Oslo"),
  ];
  const { target, ending } = await rounds({ tools, transport }, calls);
  const answers = answersIn(target.asked(1));
  assert.deepEqual(
    answers.map(({ tool_call_id }) => tool_call_id),
    calls.map(({ id }) => id),
  );
  assert.deepEqual(
    answers.map(({ success }) => success),
    [true, false, false, false, false, false, false],
  );
  assert.deepEqual(
    transport.sent.map(({ tool }) => tool),
    ["get_weather", "broken"],
  );
  for (const [place, text] of [
    [1, "500"],
    [2, "not valid JSON"],
    [3, "city"],
    [4, 'no tool named "nobody"'],
    [5, "Not today."],
    [6, "duplicate call ignored: it is the same as c1"],
  ] as const) {
    assert.ok(`${answers[place]?.error}`.includes(text), `${answers[place]?.error}`);
  }
  const { stop_reason, tools: summary } = ending.summary;
  assert.equal(stop_reason, "completed");
  assert.deepEqual(
    summary.map(({ call_id }) => call_id),
    calls.map(({ id }) => id),
    "the summary has the model's order, whatever was decided first",
  );
});

test("the model's message goes back with its calls, arguments always the text of an object", async () => {
  const { target } = await rounds({ tools: [toolNamed("get_weather", { parameters: undefined })] }, [
    { id: "c1", name: "get_weather" },
    { id: "c2", name: "get_weather", args: '{"a":' },
    { id: "c3", name: "get_weather", args: " " },
    { id: "c4", name: "get_weather", args: "[1]" },
  ]);
  const [, assistant] = target.asked(1)["messages"] as {
    tool_calls: { function: { arguments: string } }[];
  }[];
  assert.deepEqual(
    assistant?.tool_calls.map((call) => call.function.arguments),
    ["{}", '{"unparsed_arguments":"{\\"a\\":"}', "{}", '{"unparsed_arguments":"[1]"}'],
  );
});

test("the tool gets every digit, coerced where nothing is lost, and the ids of the call", async () => {
  const parameters = { type: "object", properties: { id: { type: "integer" }, n: { type: "integer" } } };
  const transport = fakeTransport();
  const args = '{"id":12345678901234567890,"n":"7"}';
  await rounds({ transport, tools: [toolNamed("get", { parameters })] }, [{ id: "c1", name: "get", args }]);
  const [sent] = transport.sent;
  assert.deepEqual(sent?.args, { id: 12345678901234567890n, n: 7 });
  const { runId, callId, sessionId, idempotencyKey } = sent?.attempt ?? {};
  assert.deepEqual(
    { runId, callId, sessionId, idempotencyKey },
    { runId: "run1", callId: "c1", sessionId: "session1", idempotencyKey: "run1:c1" },
  );
});

test("neighbours that are parallel_safe run at the same time, eight at most; answers keep the order", async () => {
  let open = 0;
  let most = 0;
  const transport = fakeTransport(async ({ args }) => {
    most = Math.max(most, ++open);
    // Later calls answer first.
    for (let turn = 20; turn > Number(args["city"]); turn--)
      await new Promise((resolve) => setImmediate(resolve));
    open--;
    return toolReply(args["city"]);
  });
  const tools = [toolNamed("get_weather", { parallel_safe: true })];
  const calls = Array.from({ length: 10 }, (_, place) => city("get_weather", `c${place}`, `${place}`));
  const { target } = await rounds({ tools, transport }, calls);
  assert.equal(most, 8);
  assert.deepEqual(
    answersIn(target.asked(1)).map(({ data }) => data),
    calls.map((_, place) => `${place}`),
  );
});

test("calls of other tools run one after the other, between the parallel ones", async () => {
  const log: string[] = [];
  const transport = fakeTransport(async ({ tool, attempt }) => {
    log.push(`+${attempt.callId}`);
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`-${attempt.callId}`);
    return toolReply(tool);
  });
  const tools = [toolNamed("safe", { parallel_safe: true }), toolNamed("one")];
  const names = ["safe", "safe", "one", "one", "safe"];
  await rounds(
    { tools, transport },
    names.map((name, place) => city(name, `${place}`, `${place}`)),
  );
  assert.equal(log.join(" "), "+0 +1 -0 -1 +2 -2 +3 -3 +4 -4");
});

test("the same call in a later round is answered from what is known, and a third time ends the run", async () => {
  const same = (id: string) => [{ id, name: "get_weather", args: `{ "city" : "Oslo" }` }];
  const transport = fakeTransport(() => toolReply("rain"));
  const { target, ending } = await rounds(
    { transport },
    [city("get_weather", "a", "Oslo")],
    same("b"),
    same("c"),
  );
  assert.equal(transport.sent.length, 1);
  assert.equal(ending.summary.stop_reason, "loop_guard");
  const answers = answersIn(target.asked(3));
  assert.deepEqual(
    answers.map(({ tool_call_id, data }) => [tool_call_id, data]),
    [
      ["a", "rain"],
      ["b", "rain"],
      ["c", "rain"],
    ],
  );
  assert.match(`${answers[1]?.note}`, /was made before/);
  assert.match(`${answers[2]?.note}`, /was made before.*No further tool calls/s);
  assert.equal(target.asked(3)["tool_choice"], "none");
});

test("after a write, calls from before it run again: what they brought may not be true any more", async () => {
  const tools = [toolNamed("get_weather"), toolNamed("move", { level: "write", confirm: "never" })];
  const look = (id: string) => [city("get_weather", id, "Oslo")];
  const move = (id: string) => [city("move", id, "Oslo")];
  let asked = 0;
  const transport = fakeTransport(() => toolReply({ asked: ++asked }));
  const { ending } = await rounds({ tools, transport }, look("a"), move("b"), look("c"), move("d"));
  assert.deepEqual(
    transport.sent.map(({ tool }) => tool),
    ["get_weather", "move", "get_weather"],
    "the write itself is still the same call again",
  );
  assert.equal(ending.summary.stop_reason, "completed");
});

test("a known call that stands twice in one message is no loop", async () => {
  const twice = [city("get_weather", "b", "Oslo"), city("get_weather", "c", "Oslo")];
  const { target, ending } = await rounds({}, [city("get_weather", "a", "Oslo")], twice);
  assert.equal(ending.summary.stop_reason, "completed");
  const answers = answersIn(target.asked(2));
  assert.match(`${answers[1]?.note}`, /was made before/);
  assert.match(`${answers[2]?.error}`, /same as b/);
});

test("a call that failed may be made again", async () => {
  let calls = 0;
  const transport = fakeTransport(() => (++calls === 1 ? toolReply({}, { status: 404 }) : toolReply("rain")));
  const { target } = await rounds(
    { transport },
    [city("get_weather", "a", "Oslo")],
    [city("get_weather", "b", "Oslo")],
  );
  assert.deepEqual(
    answersIn(target.asked(2)).map(({ success }) => success),
    [false, true],
  );
});

test("max_calls_per_run counts the calls of one message too", async () => {
  const transport = fakeTransport();
  const tools = [toolNamed("get_weather", { max_calls_per_run: 2 })];
  const calls = ["1", "2", "3"].map((value) => city("get_weather", value, value));
  const { target } = await rounds({ tools, transport }, calls, [city("get_weather", "4", "4")]);
  assert.equal(transport.sent.length, 2);
  const answers = answersIn(target.asked(2));
  assert.deepEqual(
    answers.map(({ success }) => success),
    [true, true, false, false],
  );
  assert.match(`${answers[2]?.error}`, /at most 2 times/);
});

for (const [name, change, runs] of [
  ["a read tool", { level: "read" }, "runs"],
  ["a write tool", { level: "write" }, "waits for a person"],
  ["a write tool that needs no approval", { level: "write", confirm: "never" }, "runs"],
  ["an admin tool", { level: "admin" }, "is refused"],
  ["an admin tool that needs no approval", { level: "admin", confirm: "never" }, "is refused"],
] as [string, object, string][]) {
  test(`${name} ${runs}`, async () => {
    const transport = fakeTransport();
    const { target, ending } = await rounds({ transport, tools: [toolNamed("put", change)], header: "put" }, [
      city("put", "c1", "x"),
    ]);
    assert.equal(transport.sent.length, runs === "runs" ? 1 : 0);
    const { stop_reason } = ending.summary;
    if (runs === "waits for a person") assert.equal(stop_reason, "approval_required");
    else assert.equal(answersIn(target.asked(1))[0]?.success, runs === "runs");
  });
}

test("what the transport throws of itself is told to the model, a fault of the gateway ends the run", async () => {
  const failing = (error: Error) => fakeTransport(() => Promise.reject(error));
  const told = await rounds({ transport: failing(new ToolFailure("timeout", "slow")) }, [
    city("get_weather", "c1", "x"),
  ]);
  assert.match(`${answersIn(told.target.asked(1))[0]?.error}`, /timed out/);
  await assert.rejects(
    rounds({ transport: failing(new TypeError("bug")) }, [city("get_weather", "c1", "x")]),
    TypeError,
  );
});
