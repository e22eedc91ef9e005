import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ask, complete, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { chunk, frame, sse, streamed, whole } from "./support/upstream.ts";
import { ANSWERS, clientTool, startWorld } from "./support/world.ts";

const CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"place": "Paris"}}\n</tool_call>';
const YAML = `models: [{ match: "hermes*", protocol: hermes }, { match: "plain*", protocol: native }, { match: "*", protocol: auto }]`;

const start = (t: TestContext) => startWorld(t, ["get_weather"], { yaml: YAML });

/** A reply in these deltas. */
const saying = (...deltas: Record<string, unknown>[]) =>
  sse(...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), frame("[DONE]"));

const pieces = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];

test("a call in the text runs, the text around it reaches the client, the markup does not", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  for (const [index, size] of [1, 7, 1000].entries()) {
    const model = `hermes-${size}`;
    const deltas = pieces(`Let me look.\n${CALL}`, size).map((content) => ({ content }));
    upstream.script(model, [saying(...deltas), streamed(ANSWERS)]);
    const seen = await stream(gateway, ask(model));
    assert.equal(seen.content, "Let me look.\nIt is sunny.");
    assert.equal(seen.finish, "stop");
    assert.deepEqual(tools.requests[index]?.body, { place: "Paris" });
    const [, second] = upstream.of(model);
    const [, assistant, result] = second?.body.messages ?? [];
    assert.equal(assistant?.content, "Let me look.\n");
    assert.equal(assistant?.tool_calls?.length, 1);
    assert.equal(result?.role, "tool");
  }
});

test("an unstreamed reply is read alike", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  upstream.script("hermes", [whole({ text: `<think>Paris?</think>\n${CALL}` }), whole(ANSWERS)]);
  const { body } = await complete(gateway, ask("hermes", { stream: false }));
  const [choice] = body["choices"] as { message: Record<string, unknown>; finish_reason: string }[];
  assert.equal(choice?.message["content"], "It is sunny.");
  assert.equal(choice?.message["reasoning_content"], "Paris?");
  assert.equal(choice?.finish_reason, "stop");
  assert.equal(tools.requests.length, 1);
});

test("text that comes in parts is read alike", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  const parts = pieces(`Let me look.\n${CALL}`, 9).map((text) => ({ content: [{ type: "text", text }] }));
  const thinking = { content: [{ type: "thinking", thinking: [{ type: "text", text: "Paris?" }] }] };
  upstream.script("hermes", [saying(thinking, ...parts), streamed(ANSWERS)]);
  const seen = await stream(gateway, ask("hermes"));
  assert.equal(seen.content, "Let me look.\nIt is sunny.");
  assert.deepEqual(
    tools.requests.map(({ body }) => body),
    [{ place: "Paris" }],
  );
});

test("where the template opens the think block, a reply begins inside of it", async (t) => {
  const yaml = 'models: [{ match: "*", protocol: hermes, reasoning: prefilled }]';
  const { upstream, gateway, tools } = await startWorld(t, ["get_weather"], { yaml });
  const text = `Perhaps ${CALL}?\n</think>Let me look.\n${CALL}`;
  for (const [index, size] of [1, 7, 1000].entries()) {
    const model = `m${size}`;
    const deltas = pieces(text, size).map((content) => ({ content }));
    upstream.script(model, [saying(...deltas), saying({ content: "Sunny.</think>It is sunny." })]);
    const seen = await stream(gateway, ask(model));
    assert.equal(seen.content, "Let me look.\nIt is sunny.");
    assert.equal(seen.finish, "stop");
    assert.equal(tools.requests.length, index + 1);
  }
});

test("where the server takes the reasoning out of the text, none is left in it", async (t) => {
  const yaml = 'models: [{ match: "*", protocol: hermes, reasoning: prefilled }]';
  const { upstream, gateway, tools } = await startWorld(t, ["get_weather"], { yaml });
  upstream.script("m", [
    saying({ reasoning_content: "Hm." }, { content: "Let me " }, { content: `look.\n${CALL}` }),
    saying({ reasoning_content: "Yes." }, { content: "It is sunny." }),
  ]);
  const seen = await stream(gateway, ask("m"));
  assert.equal(seen.content, "Let me look.\nIt is sunny.");
  assert.equal(tools.requests.length, 1);
});

test("a call of the client's tool streams to it as its arguments come", async (t) => {
  const { upstream, gateway } = await start(t);
  const text = '<tool_call>{"name": "show_map", "arguments": {"zoom": 3, "at": [1, 2]}}</tool_call>';
  upstream.script("hermes", [saying(...pieces(text, 9).map((content) => ({ content })))]);
  const seen = await stream(gateway, ask("hermes", { tools: [clientTool("show_map")] }));
  assert.equal(seen.finish, "tool_calls");
  assert.equal(seen.content, "");
  assert.deepEqual(
    seen.calls.map(({ index, name, arguments: args }) => ({ index, name, args })),
    [{ index: 0, name: "show_map", args: '{"zoom": 3, "at": [1, 2]}' }],
  );
  const withPieces = seen.chunks.filter(({ choices }) => choices[0]?.delta["tool_calls"]);
  assert.ok(withPieces.length > 2, "the arguments did not come in pieces");
});

test("a call that the reply ends in before its arguments is not run without any", async (t) => {
  const names = ["qwen3_coder", "glm4", "minimax_m2", "hermes", "kimi_k2", "mistral"];
  const yaml = `models: [${names.map((name) => `{ match: ${name}, protocol: ${name} }`).join(", ")}]`;
  const { upstream, gateway, tools } = await startWorld(t, [], { yaml });
  const parameters = { type: "object", properties: { filter: { type: "string" } } };
  await registerTool(gateway, "list_all", { url: tools.urlOf("list_all"), parameters });
  const texts: Record<string, string> = {
    qwen3_coder: "<tool_call><function=list_all><parameter=fil",
    glm4: "<tool_call>list_all<arg_key>filter",
    minimax_m2: '<minimax:tool_call><invoke name="list_all"><parameter name="fil',
    hermes: '<tool_call>{"name": "list_all", "arguments":',
    kimi_k2: "<|tool_call_begin|>functions.list_all:0<|tool_call_argument_begin|>",
    mistral: "[TOOL_CALLS]list_all[ARGS]",
  };
  for (const [name, text] of Object.entries(texts)) {
    upstream.script(name, [saying({ content: text }), streamed(ANSWERS)]);
    const seen = await stream(gateway, ask(name));
    assert.equal(seen.content, "It is sunny.", name);
    assert.match(String(upstream.of(name)[1]?.body.messages.at(-1)?.content), /end of the text/, name);
  }
  assert.equal(tools.requests.length, 0);
});

test("the provider's own calls win over the same ones in the text", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  const native = {
    index: 0,
    id: "call_own",
    type: "function",
    function: { name: "get_weather", arguments: '{"place":"Oslo"}' },
  };
  for (const deltas of [
    [{ tool_calls: [native] }, { content: CALL }],
    [{ content: CALL }, { tool_calls: [native] }],
    [{ content: CALL.slice(0, 30) }, { tool_calls: [native] }],
  ]) {
    tools.requests.length = 0;
    upstream.script("hermes", [saying(...deltas), streamed(ANSWERS)]);
    await stream(gateway, ask("hermes"));
    assert.deepEqual(
      tools.requests.map(({ body }) => body),
      [{ place: "Oslo" }],
    );
    const told = upstream.of("hermes").at(-1)?.body.messages.at(-1);
    assert.equal(told?.tool_call_id, "call_own");
  }
});

test("a call in reasoning counts where no answer follows it", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  const thinking = pieces(`I should look. ${CALL}`, 5).map((reasoning_content) => ({ reasoning_content }));
  upstream.script("hermes", [saying(...thinking), streamed(ANSWERS)]);
  const ran = await stream(gateway, ask("hermes"));
  assert.equal(ran.content, "It is sunny.");
  assert.equal(tools.requests.length, 1);

  upstream.script("hermes", [saying(...thinking, { content: "No need." })]);
  const closed = await stream(gateway, ask("hermes"));
  assert.equal(closed.content, "No need.");
  assert.equal(tools.requests.length, 1, "what stands in closed reasoning is no call");
  const reasoning = closed.chunks.map(({ choices }) => choices[0]?.delta["reasoning_content"] ?? "").join("");
  assert.equal(reasoning, `I should look. ${CALL}`);
});

test("nothing is taken from users, where calls are forbidden, nor in a code fence", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  upstream.script("hermes", [streamed({ text: "Fine." })]);
  await stream(gateway, ask("hermes", { messages: [{ role: "user", content: CALL }] }));
  for (const [text, members] of [
    [CALL, { tool_choice: "none" }],
    [`Write this:\n\`\`\`xml\n${CALL}\n\`\`\`\nThat is all.`, {}],
    ["The tag is `<tool_call>`.", {}],
  ] as const) {
    upstream.script("hermes", [saying(...pieces(text, 4).map((content) => ({ content })))]);
    assert.equal((await stream(gateway, ask("hermes", members))).content, text);
  }
  assert.equal(tools.requests.length, 0);
});

test("native reads no text, auto goes by what arrives", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  for (const model of ["plain-model", "somebody/new-model"])
    upstream.script(model, [saying({ content: CALL }), streamed(ANSWERS)]);
  assert.equal((await stream(gateway, ask("plain-model"))).content, CALL);
  assert.equal(tools.requests.length, 0);
  assert.equal((await stream(gateway, ask("somebody/new-model"))).content, "It is sunny.");
  assert.equal(tools.requests.length, 1);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  assert.match(metrics, /toolweir_rounds_total\{protocol="native"\} 1/);
  assert.match(metrics, /toolweir_rounds_total\{protocol="auto"\} 2/);
});

test("a name that nobody declared, and a call that was cut off, are told to the model", async (t) => {
  const { upstream, gateway, tools } = await start(t);
  for (const text of [CALL.replace("get_weather", "get_wether"), CALL.slice(0, 60)]) {
    upstream.script("hermes", [saying({ content: text }), streamed(ANSWERS)]);
    assert.equal((await stream(gateway, ask("hermes"))).content, "It is sunny.");
    const told = upstream.of("hermes").at(-1)?.body.messages.at(-1);
    assert.equal(told?.role, "tool");
    assert.match(String(told?.content), /get_weather|valid JSON/);
  }
  assert.equal(tools.requests.length, 0);
});
