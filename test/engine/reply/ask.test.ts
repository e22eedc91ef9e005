import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runRounds } from "../../../src/engine/run.ts";
import { GatewayError } from "../../../src/errors.ts";
import { callChunk, callStream, chunk, event, said, textStream } from "../../support/chunks.ts";
import { play, type Scene, stage, toolNamed } from "../../support/engine.ts";
import { readStream } from "../../support/sink.ts";
import { fakeTarget, type ScriptedReply } from "../../support/upstream.ts";

const status = (code: number, rest: ScriptedReply = {}): ScriptedReply => ({
  status: code,
  body: '{"error":"no"}',
  ...rest,
});
const lost = (transient: boolean): ScriptedReply => ({
  status: 0,
  end: new GatewayError("upstream_unavailable", "lost", { transient }),
});

/** Lets every wait of a run be over at once. */
function withoutWaits(t: TestContext): void {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const hurry = setInterval(() => t.mock.timers.runAll(), 1);
  t.after(() => clearInterval(hurry));
}

for (const [name, reply, asks, elsewhere] of [
  ["400", status(400), 1, 0],
  ["401", status(401), 1, 0],
  ["404", status(404), 1, 0],
  ["408", status(408), 3, 1],
  ["409", status(409), 3, 1],
  ["422", status(422), 1, 0],
  ["425", status(425), 3, 1],
  ["429", status(429), 1, 1],
  ["500", status(500), 3, 1],
  ["503", status(503), 3, 1],
  ["a lost connection", lost(true), 3, 1],
  ["a failure that is final", lost(false), 1, 0],
  ["an HTML page of status 200", { contentType: "text/html", body: "x" }, 1, 0],
  ["a redirect", status(302), 1, 0],
  ["an error in a stream before any text", event({ error: "overloaded" }), 1, 0],
] as [string, ScriptedReply | string, number, number][]) {
  test(`after ${name} the same target is asked ${asks} times and its fallback ${elsewhere}`, async (t) => {
    withoutWaits(t);
    const target = fakeTarget(Array(5).fill(reply), { retry: 2 });
    const fallback = fakeTarget([textStream("from the fallback")], { name: "backup" });
    const played = play({ targets: [target, fallback] });
    if (elsewhere === 0) await assert.rejects(played, GatewayError);
    else assert.equal(readStream((await played).text).content, "from the fallback");
    assert.deepEqual([target.requests.length, fallback.requests.length], [asks, elsewhere]);
  });
}

test("a target that recovers is asked no more, and the abandoned attempts leave nothing behind", async (t) => {
  withoutWaits(t);
  const half = {
    body: event(chunk({ role: "assistant", content: "" })),
    end: new GatewayError("upstream_stream_interrupted", "x", { transient: true }),
  };
  const target = fakeTarget([half, status(500), textStream("Hi")], { retry: 2 });
  const { text, run, scope } = await play({ targets: [target] });
  const { content, roles, finishes } = readStream(text);
  assert.deepEqual([content, roles, finishes], ["Hi", ["assistant"], ["stop"]]);
  assert.equal(run.record.rounds.length, 1);
  assert.equal(scope.notes.filter(([name]) => name === "upstreamFailed").length, 2);
});

test("nothing is asked again after text, reasoning or a client's call was shown", async () => {
  const failed = new GatewayError("upstream_stream_interrupted", "x", { transient: true });
  for (const shown of [
    said("a"),
    chunk({ reasoning_content: "hm" }),
    callChunk({ index: 0, id: "c", name: "ask", args: "{" }),
  ]) {
    const target = fakeTarget([{ body: event(shown), end: failed }], { retry: 2 });
    const fallback = fakeTarget([]);
    const request = { tools: [{ type: "function", function: { name: "ask" } }] };
    await assert.rejects(play({ targets: [target, fallback], request }), { code: failed.code });
    assert.deepEqual([target.requests.length, fallback.requests.length], [1, 0]);
  }
});

test("a gateway's call that nobody saw does not keep a round from being asked again, and runs once", async (t) => {
  withoutWaits(t);
  const call = { id: "c1", name: "get_weather", args: '{"city":"x"}' };
  const cut = {
    body: event(callChunk({ index: 0, ...call })),
    end: new GatewayError("upstream_stream_interrupted", "x", { transient: true }),
  };
  const target = fakeTarget([cut, callStream(call), textStream("Done.")], { retry: 1 });
  const { ending } = await play({ targets: [target], tools: [toolNamed("get_weather")] });
  assert.equal(ending.summary.tools.length, 1);
  assert.equal(target.requests.length, 3);
});

test("an unstreamed answer may be asked again, for nothing of it has been seen", async (t) => {
  withoutWaits(t);
  const cut = {
    body: event(said("half")),
    end: new GatewayError("upstream_stream_interrupted", "x", { transient: true }),
  };
  const target = fakeTarget([cut, textStream("whole")], { retry: 1 });
  const { body } = await play({ targets: [target], request: { stream: false } });
  assert.equal((body.choices as { message: { content: string } }[])[0]?.message.content, "whole");
});

test("a wait between attempts ends with the reason of the abort", async (t) => {
  t.mock.method(Math, "random", () => 0.999);
  for (const reason of [new GatewayError("shutting_down", "bye"), new Error("gone")]) {
    const target = fakeTarget([status(503), textStream("x")], { retry: 1 });
    const { run, sink } = stage({ targets: [target] });
    const running = runRounds(run);
    setTimeout(() => sink.leave(reason), 5);
    await assert.rejects(running, reason);
    assert.equal(target.requests.length, 1);
  }
});

const bodyOf = async (scene: Partial<Scene>, number = 0) => {
  const calls = [{ id: "c1", name: "get_weather", args: '{"city":"x"}' }];
  const target = fakeTarget(number === 0 ? [textStream("a")] : [callStream(...calls), textStream("a")]);
  const { run } = await play({ ...scene, targets: [target] });
  return { sent: target.requests[number]?.body, json: target.asked(number), run };
};

test("where there is nothing to add, the client's own bytes go upstream", async () => {
  const { sent, run } = await bodyOf({ request: { tool_choice: "none" }, tools: [toolNamed("get_weather")] });
  assert.equal(sent, run.raw);
});

test("the gateway's tools come after the client's own, whose declarations stay as they were", async () => {
  const own = { type: "function", function: { name: "ask", strict: true, parameters: {} } };
  const tools = [toolNamed("get_weather"), toolNamed("ask")];
  const request = { tools: [own], parallel_tool_calls: false, seed: 7, custom_member: { a: [1] } };
  const { json } = await bodyOf({ request, tools });
  assert.deepEqual(json["tools"], [own, JSON.parse(toolNamed("get_weather").specText)]);
  const { messages, parallel_tool_calls, seed, custom_member, model, stream } = json;
  assert.deepEqual(
    { messages, parallel_tool_calls, seed, custom_member, model, stream },
    {
      messages: [{ role: "user", content: "hi" }],
      parallel_tool_calls: false,
      seed: 7,
      custom_member: { a: [1] },
      model: "gpt",
      stream: true,
    },
  );
});

test("every digit of the client's members goes upstream, in its tools too", async () => {
  const target = fakeTarget([
    callStream({ id: "c1", name: "get_weather", args: '{"city":"x"}' }),
    textStream("a"),
  ]);
  const own = `{"type":"function","function":{"name":"ask","parameters":{"maximum":12345678901234567890}}}`;
  const members = `"seed":9007199254740993,"x":[1.0,1e400],"tools": [ ${own} ]`;
  const { run } = stage({
    targets: [target],
    tools: [toolNamed("get_weather")],
    request: { tools: [JSON.parse(own)] },
  });
  const raw = Buffer.from(
    `{"model":"gpt","stream":true,"messages":[{"role":"user","content":"hi"}],${members}}`,
  );
  await runRounds(Object.assign(run, { raw }));
  for (const { body } of target.requests) {
    const text = String(body);
    for (const part of ['"seed":9007199254740993', '"x":[1.0,1e400]', own])
      assert.ok(text.includes(part), part);
    const names = (JSON.parse(text).tools as { function: { name: string } }[]).map(
      (tool) => tool.function.name,
    );
    assert.deepEqual(names, ["ask", "get_weather"]);
  }
  assert.equal(target.requests.length, 2);
});

const named = { type: "function", function: { name: "get_weather" } };
const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [named] } });
for (const [name, choice, later] of [
  ["a named tool", named, "auto"],
  ["any tool", "required", "auto"],
  ["auto", "auto", "auto"],
  ["an allow-list", allowed("auto"), "same"],
  ["an allow-list that is required", allowed("required"), allowed("auto")],
  ["nothing", undefined, undefined],
] as const) {
  test(`a tool_choice of ${name} holds in the first round; what is forced only there`, async () => {
    const scene = { tools: [toolNamed("get_weather")], request: { ...(choice && { tool_choice: choice }) } };
    assert.deepEqual((await bodyOf(scene)).json["tool_choice"], choice);
    assert.deepEqual((await bodyOf(scene, 1)).json["tool_choice"], later === "same" ? choice : later);
  });
}

test("every round has its own trace context, and the client's authorization", async () => {
  const target = fakeTarget([
    callStream({ id: "c1", name: "get_weather", args: '{"city":"x"}' }),
    textStream("a"),
  ]);
  await play({ targets: [target], tools: [toolNamed("get_weather")] });
  assert.deepEqual(
    target.requests.map(({ traceparent }) => traceparent),
    ["round-1", "round-2"],
  );
});
