import assert from "node:assert/strict";
import { test } from "node:test";
import { requestBody } from "../../../src/engine/reply/request-body.ts";
import { GatewayError } from "../../../src/errors.ts";
import { callStream, textStream } from "../../support/chunks.ts";
import { play, type Scene, stage, toolNamed } from "../../support/engine.ts";
import { fakeTarget } from "../../support/upstream.ts";

const WEATHER = toolNamed("get_weather");
const CLIENT_TOOL = { type: "function", function: { name: "mine", parameters: { maximum: 1 } } };

type Body = Record<string, unknown> & { messages: { role: string; content: string }[] };

function textOf(scene: Partial<Scene>, protocol = "hermes"): string {
  const { run } = stage({ targets: [], tools: [WEATHER], ...scene });
  run.round = 1;
  return String(requestBody(run, { protocol, tools: "prompt" }));
}

const bodyOf = (scene: Partial<Scene>, protocol?: string) => JSON.parse(textOf(scene, protocol)) as Body;

const systemOf = (body: Body) => (body.messages[0]?.role === "system" ? body.messages[0].content : undefined);

test("tools go into the messages; their members go nowhere, all others stay as they were spelt", () => {
  const raw = `{"seed": 12345678901234567890, "model":"gpt","messages":[{"role":"user","content":"hi"}], "parallel_tool_calls":true,
    "tools":[{"type":"function","function":{"name":"mine","parameters":{"maximum":12345678901234567890}}}],"tool_choice":"auto"}`;
  const request = { tools: [CLIENT_TOOL], tool_choice: "auto", parallel_tool_calls: true };
  const text = textOf({ raw, request });
  assert.ok(text.startsWith('{"seed": 12345678901234567890,"model":"gpt","messages":[{"role":"system"'));
  const body = JSON.parse(text) as Body;
  assert.deepEqual(Object.keys(body), ["seed", "model", "messages"]);
  const said = String(systemOf(body));
  assert.ok(
    said.includes(
      '\n{"type":"function","function":{"name":"mine","parameters":{"maximum":12345678901234567890}}}\n',
    ),
  );
  assert.ok(said.includes(`\n${WEATHER.specText}\n`));
});

test("a request with no tools and no calls goes upstream byte for byte", () => {
  const { run } = stage({ targets: [] });
  assert.equal(requestBody(run, { protocol: "react", tools: "prompt" }), run.raw);
});

test("an upstream with tool support gets what it always got", () => {
  const { run } = stage({ targets: [], tools: [WEATHER] });
  const body = JSON.parse(String(requestBody(run, { protocol: "react", tools: "native" }))) as Body;
  assert.deepEqual(Object.keys(body), ["model", "stream", "messages", "tools"]);
  assert.equal(body.messages.length, 1);
});

test("calls of the past are written down even where no tool is left", () => {
  const messages = [
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "a", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "1", content: "x" },
  ];
  const body = bodyOf({ tools: [], request: { messages } });
  assert.match(String(systemOf(body)), /^No tool can be called now/);
  assert.deepEqual(
    body.messages.map(({ role }) => role),
    ["system", "user", "assistant", "user"],
  );
});

test("the client's choice becomes a sentence, and its allow-list the list", () => {
  const said = (tool_choice: unknown) =>
    String(systemOf(bodyOf({ request: { tools: [CLIENT_TOOL], tool_choice } })));
  assert.match(said("required"), /Your next reply must call a tool\.$/);
  assert.match(said({ type: "function", function: { name: "mine" } }), /must call the tool mine\.$/);
  assert.match(said("none"), /^No tool can be called now/);
  const allowed = (mode: string) =>
    said({
      type: "allowed_tools",
      allowed_tools: { mode, tools: [{ type: "function", function: { name: "mine" } }] },
    });
  assert.match(allowed("required"), /must call a tool\.$/);
  for (const text of [allowed("auto"), allowed("required")]) {
    assert.ok(text.includes('"name":"mine"') && !text.includes("get_weather"));
  }
  assert.doesNotMatch(allowed("auto"), /must call/);
});

test("a tool that is no function cannot be said, and the request is refused", () => {
  const request = { tools: [CLIENT_TOOL, { type: "custom", custom: { name: "sql" } }] };
  assert.throws(
    () => bodyOf({ request }),
    (error: unknown) =>
      error instanceof GatewayError &&
      error.code === "unsupported_parameter" &&
      error.options.param === "tools[1].type",
  );
});

test("react stops at its own word, behind the client's", () => {
  const stopOf = (stop: unknown) => bodyOf({ request: { stop } }, "react")["stop"];
  assert.deepEqual(stopOf(undefined), ["Observation:"]);
  assert.deepEqual(stopOf(null), ["Observation:"]);
  assert.deepEqual(stopOf("END"), ["END", "Observation:"]);
  assert.deepEqual(stopOf(["a", "Observation:"]), ["a", "Observation:"]);
  assert.deepEqual(stopOf(["a", "b", "c"]), ["a", "b", "c", "Observation:"]);
  assert.deepEqual(stopOf(["a", "b", "c", "d"]), ["a", "b", "c", "d"], "servers take four");
  assert.equal(bodyOf({ request: { stop: "END" } })["stop"], "END");
  const silent = { tool_choice: "none", tools: [CLIENT_TOOL], stop: "END" };
  assert.equal(bodyOf({ request: silent }, "react")["stop"], "END");
});

test("each round writes the conversation so far, and a forced call is forced in the first one only", async () => {
  const call = callStream({ id: "c1", name: "get_weather", args: '{"city":"Oslo"}' });
  const target = fakeTarget([call, textStream("Sunny.")], { protocol: "hermes", tools: "prompt" });
  const { ending } = await play({
    targets: [target],
    tools: [WEATHER],
    request: { tool_choice: { type: "function", function: { name: "get_weather" } } },
  });
  assert.equal(ending.summary.stop_reason, "completed");
  const [first, second] = [target.asked(0), target.asked(1)] as [Body, Body];
  assert.match(String(systemOf(first)), /must call the tool get_weather\.$/);
  assert.doesNotMatch(String(systemOf(second)), /must call/);
  assert.deepEqual(second.messages.slice(1), [
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: '<tool_call>\n{"name": "get_weather", "arguments": {"city":"Oslo"}}\n</tool_call>',
    },
    {
      role: "user",
      content:
        '<tool_response>\n{"name": "get_weather", "content": {"tool_call_id":"c1","tool_name":"get_weather",' +
        '"success":true,"data":{"ok":true},"error":null}}\n</tool_response>',
    },
  ]);
});

test("in the last round nothing can be called", async () => {
  const call = callStream({ id: "c1", name: "get_weather", args: '{"city":"Oslo"}' });
  const target = fakeTarget([call, textStream("Sunny.")], { protocol: "react", tools: "prompt" });
  const { ending } = await play({ targets: [target], tools: [WEATHER], limits: { rounds: 1 } });
  assert.equal(ending.summary.stop_reason, "max_rounds");
  const last = target.asked(1) as Body;
  assert.match(String(systemOf(last)), /^No tool can be called now/);
  assert.equal(last["stop"], undefined);
  assert.match(String(last.messages.at(-1)?.content), /^Observation: .*No further tool calls are possible/);
});

test("a fallback gets the body that it can read", async () => {
  const first = fakeTarget([{ status: 429, body: "no" }], { protocol: "hermes", tools: "prompt" });
  const second = fakeTarget([textStream("Hi.")], { name: "backup" });
  await play({ targets: [first, second], tools: [WEATHER] });
  assert.deepEqual(
    [first, second].map((target) => "tools" in target.asked(0)),
    [false, true],
  );
});
