import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete, type Seen, stream } from "./support/client.ts";
import type { UpstreamBody } from "./support/upstream.ts";
import { chunk, frame, sse, streamed, whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, clientTool, startWorld, type World } from "./support/world.ts";

const TWO = ["get_weather", "get_time"];

/** The upstream requests of one run, of which the first is answered with a call of `get_weather`. */
async function twoRounds(
  { upstream, gateway }: World,
  members: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<{ seen: Seen; bodies: UpstreamBody[] }> {
  upstream.requests.length = 0;
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const seen = await stream(gateway, ask("m", members), headers);
  return { seen, bodies: upstream.of("m").map(({ body }) => body) };
}

const namesOf = (body: UpstreamBody | undefined) => body?.tools?.map((tool) => tool.function.name);

test("x-toolweir-tools chooses the gateway tools; without it all are offered; none leaves the request alone", async (t) => {
  const world = await startWorld(t, TWO);
  const offered = async (headers: Record<string, string>) =>
    namesOf((await twoRounds(world, {}, headers)).bodies[0]);
  assert.deepEqual(await offered({}), ["get_time", "get_weather"]);
  assert.deepEqual(await offered({ "x-toolweir-tools": "get_weather" }), ["get_weather"]);
  assert.deepEqual(await offered({ "x-toolweir-tools": " get_time , get_weather " }), TWO.toReversed());
  world.upstream.script("m", [streamed(ANSWERS)]);
  await stream(world.gateway, ask("m"), { "x-toolweir-tools": "none" });
  assert.ok(!("tools" in (world.upstream.of("m").at(-1)?.body ?? { tools: [] })));
});

test("an unknown name in x-toolweir-tools is the client's mistake", async (t) => {
  const world = await startWorld(t, TWO);
  const { status, body } = await complete(world.gateway, ask("m"), { "x-toolweir-tools": "get_wether" });
  assert.equal(status, 400);
  assert.equal(body.error.param, "x-toolweir-tools");
  assert.match(body.error.message, /get_wether/);
  assert.equal(world.upstream.requests.length, 0);
});

test("a name on both sides is the client's, whose declaration goes upstream as it came", async (t) => {
  const world = await startWorld(t, TWO);
  const mine = { ...clientTool("get_weather"), vendor: { cache: true } };
  const { seen, bodies } = await twoRounds(world, { tools: [mine] });
  assert.deepEqual(bodies[0]?.tools?.[0], mine);
  assert.deepEqual(namesOf(bodies[0]), TWO);
  assert.deepEqual(
    seen.calls.map(({ name }) => name),
    ["get_weather"],
  );
  assert.equal(world.tools.requests.length, 0);
  assert.equal(bodies.length, 1);
});

test("a forced tool_choice holds in the first round only", async (t) => {
  const world = await startWorld(t, TWO);
  for (const tool_choice of ["required", { type: "function", function: { name: "get_weather" } }]) {
    const { bodies } = await twoRounds(world, { tool_choice });
    assert.deepEqual(
      bodies.map((body) => body.tool_choice),
      [tool_choice, "auto"],
    );
  }
  const { bodies } = await twoRounds(world, { tool_choice: "auto" });
  assert.deepEqual(
    bodies.map((body) => body.tool_choice),
    ["auto", "auto"],
  );
});

test("tool_choice none offers nothing, and the client's own declarations stay", async (t) => {
  const world = await startWorld(t, TWO);
  world.upstream.script("m", [streamed(ANSWERS)]);
  await stream(world.gateway, ask("m", { tool_choice: "none", tools: [clientTool("mine")] }));
  const [request] = world.upstream.of("m");
  assert.deepEqual(namesOf(request?.body), ["mine"]);
  assert.equal(request?.body.tool_choice, "none");
});

test("parallel_tool_calls: false goes upstream in every round", async (t) => {
  const { bodies } = await twoRounds(await startWorld(t), { parallel_tool_calls: false });
  assert.deepEqual(
    bodies.map((body) => body["parallel_tool_calls"]),
    [false, false],
  );
});

test("members that the gateway does not know reach the upstream untouched, in every round", async (t) => {
  const world = await startWorld(t);
  const members = {
    temperature: 0.30000000000000004,
    reasoning_effort: "high",
    chat_template_kwargs: { enable_thinking: false },
    provider: { order: ["a", "b"] },
    stop: null,
    seed: 7,
    metadata: { a: "b" },
    stream_options: { include_usage: true, other: 1 },
    messages: [
      {
        role: "user",
        content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }],
        vendor: 1,
      },
    ],
  };
  const { bodies } = await twoRounds(world, members);
  for (const { tools, messages, ...rest } of bodies) {
    const { messages: asked, ...given } = members;
    assert.deepEqual(rest, { model: "m", stream: true, ...given });
    assert.deepEqual(messages[0], asked[0]);
    assert.deepEqual(namesOf({ tools } as UpstreamBody), ["get_weather"]);
  }
});

test("without a gateway tool the upstream gets the very bytes of the client", async (t) => {
  const world = await startWorld(t, TWO);
  world.upstream.script("m", [whole(ANSWERS)]);
  const text =
    '{ "model":"m",\n "seed": 12345678901234567890, "x": 1.0, "messages":[{"role":"user","content":"\\u00fc"}] }';
  for (const headers of [{ "x-toolweir-tools": "none" }, {}]) {
    const body = "x-toolweir-tools" in headers ? text : text.replace("{", '{"tool_choice":"none",');
    const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
    assert.equal(response.status, 200);
    assert.equal(world.upstream.requests.at(-1)?.text, body);
  }
});

test("several choices are passed through without gateway tools, each with its role, text and finish", async (t) => {
  const world = await startWorld(t);
  const piece = (index: number, delta: unknown, finish_reason: string | null = null) =>
    frame({ id: "x", created: 1, model: "u", choices: [{ index, delta, finish_reason }] });
  const body = [piece(0, { role: "assistant", content: "A" }), piece(1, { role: "assistant", content: "B" })];
  body.push(piece(1, {}, "length"), piece(0, { content: "!" }), piece(0, {}, "stop"), frame("[DONE]"));
  world.upstream.script("m", [sse(...body)]);
  const { chunks } = await stream(world.gateway, ask("m", { n: 2 }));
  assert.ok(!("tools" in (world.upstream.of("m")[0]?.body ?? { tools: [] })));
  const texts = ["", ""];
  const finishes: unknown[] = [];
  for (const { index, delta, finish_reason } of chunks.flatMap(({ choices }) => choices)) {
    texts[index] += String(delta["content"] ?? "");
    if (finish_reason) finishes[index] = finish_reason;
  }
  assert.deepEqual(texts, ["A!", "B"]);
  assert.deepEqual(finishes, ["stop", "length"]);
  const roles = chunks.flatMap(({ choices }) =>
    choices.flatMap(({ index, delta }) => (delta["role"] ? index : [])),
  );
  assert.deepEqual(roles.toSorted(), [0, 1]);
});

test("a call of a name that nobody declared is answered to the model with the nearest names", async (t) => {
  const world = await startWorld(t, TWO);
  const calls = [{ name: "get_wether", args: { place: "Paris" } }];
  world.upstream.script("m", [streamed({ calls }), streamed(ANSWERS)]);
  const seen = await stream(world.gateway, ask("m", { tools: [clientTool("mine")] }));
  assert.equal(seen.content, "It is sunny.");
  assert.deepEqual(seen.calls, []);
  const told = String(world.upstream.of("m")[1]?.body.messages.at(-1)?.content);
  assert.match(told, /get_wether/);
  assert.match(told, /get_weather/);
});

test("a length in the midst of a call, twice, runs nothing and is told as it is", async (t) => {
  const world = await startWorld(t);
  const call = {
    index: 0,
    id: "a",
    type: "function",
    function: { name: "get_weather", arguments: '{"place":"P' },
  };
  const body = [
    chunk({ role: "assistant", content: "Hm. " }),
    chunk({ tool_calls: [call] }),
    chunk({}, "length"),
  ];
  const cut = sse(...body, frame("[DONE]"));
  world.upstream.script("m", [cut, cut]);
  const seen = await stream(world.gateway, ask("m"));
  assert.equal(seen.content, "Hm. Hm. ");
  assert.equal(seen.finish, "length");
  assert.equal(seen.summary["stop_reason"], "length");
  assert.equal(world.tools.requests.length, 0);
});
