import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ask, complete, stream } from "./support/client.ts";
import { startGateway } from "./support/gateway.ts";
import type { ScriptedCall } from "./support/upstream.ts";
import { streamed, whole } from "./support/upstream.ts";
import { ANSWERS, clientTool, startWorld, type World } from "./support/world.ts";

const USER = { role: "user", content: "Weather in Paris, on the map, and in Oslo." };
const WEATHER = (place: string): ScriptedCall => ({ id: `g_${place}`, name: "get_weather", args: { place } });
const MAP: ScriptedCall = { id: "c_map", name: "show_map", args: { zoom: 3 } };
const PIN: ScriptedCall = { id: "c_pin", name: "drop_pin", args: {} };
/** Gateway, client, gateway, client. */
const MIXED = { text: "One moment. ", calls: [WEATHER("Paris"), MAP, WEATHER("Oslo"), PIN] };
const TOOLS = [clientTool("show_map"), clientTool("drop_pin")];

const wire = ({ id, name, args }: ScriptedCall) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});
const result = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });

/** The conversation as the client has it after the mixed turn: its own calls only. */
const HISTORY = [
  USER,
  { role: "assistant", content: MIXED.text, tool_calls: [MAP, PIN].map(wire) },
  result("c_pin", "pinned"),
  result("c_map", "shown"),
];

/** What the tool server's default answer becomes as a tool message. */
const envelope = (place: string) =>
  JSON.stringify({
    tool_call_id: `g_${place}`,
    tool_name: "get_weather",
    success: true,
    data: { tool: "get_weather", got: { place } },
    error: null,
  });

/** The conversation as the model must see it: its own message, all results in the order of its calls. */
const RESTORED = [
  USER,
  { role: "assistant", content: MIXED.text, tool_calls: MIXED.calls.map(wire) },
  result("g_Paris", envelope("Paris")),
  result("c_map", "shown"),
  result("g_Oslo", envelope("Oslo")),
  result("c_pin", "pinned"),
];

/** The first half of the mixed turn. */
async function firstHalf({ upstream, gateway }: World, headers = {}): Promise<void> {
  upstream.script("m", [streamed(MIXED), streamed(ANSWERS)]);
  const seen = await stream(gateway, ask("m", { messages: [USER], tools: TOOLS }), headers);
  assert.equal(seen.finish, "tool_calls");
  assert.equal(seen.summary["stop_reason"], "client_tools");
  assert.deepEqual(seen.calls, [
    { index: 0, id: "c_map", name: "show_map", arguments: '{"zoom":3}' },
    { index: 1, id: "c_pin", name: "drop_pin", arguments: "{}" },
  ]);
}

const back = { messages: HISTORY, tools: TOOLS };

test("in a mixed turn the gateway's calls run and the client's come back to their place", async (t) => {
  const world = await startWorld(t);
  await firstHalf(world);
  assert.deepEqual(
    world.tools.requests.map(({ body }) => body),
    [{ place: "Paris" }, { place: "Oslo" }],
  );
  const seen = await stream(world.gateway, ask("m", back));
  assert.equal(seen.content, "It is sunny.");
  assert.deepEqual(world.upstream.of("m")[1]?.body.messages, RESTORED);
  assert.equal(world.tools.requests.length, 2, "nothing ran again");
});

test("a mixed turn works unstreamed, also with a passed-through continuation", async (t) => {
  const world = await startWorld(t);
  world.upstream.script("m", [whole(MIXED), whole(ANSWERS)]);
  const { body } = await complete(world.gateway, ask("m", { messages: [USER], tools: TOOLS }));
  assert.deepEqual(body.choices[0].message.tool_calls, [MAP, PIN].map(wire));
  assert.equal(body.choices[0].finish_reason, "tool_calls");
  const answer = await complete(world.gateway, ask("m", back), { "x-toolweir-tools": "none" });
  assert.equal(answer.body.choices[0].message.content, "It is sunny.");
  assert.deepEqual(world.upstream.of("m")[1]?.body.messages, RESTORED);
});

test("the kept half survives a restart of the gateway on the same file", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolweir-e2e-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const env = { TOOLWEIR_STORE: `sqlite:${join(folder, "toolweir.db")}` };
  const world = await startWorld(t, ["get_weather"], { env });
  await firstHalf(world);
  await world.gateway.close();
  const gateway = await startGateway(t, { upstream: world.upstream.baseUrl, env });
  const seen = await stream(gateway, ask("m", back));
  assert.equal(seen.content, "It is sunny.");
  assert.deepEqual(world.upstream.of("m")[1]?.body.messages, RESTORED);
});

const KEYS = { authorization: "Bearer key-of-a-client-one" };
const OTHER = { authorization: "Bearer key-of-a-client-two" };
const TWO_KEYS = `auth: { mode: keys, keys: [ { name: one, key: key-of-a-client-one }, { name: two, key: key-of-a-client-two } ] }
upstreams: [ { name: main, api_key: sk-upstream } ]`;

test("another key that comes back with the id of a kept turn gets nothing of it", async (t) => {
  const world = await startWorld(t, ["get_weather"], { yaml: TWO_KEYS });
  await firstHalf(world, KEYS);
  await stream(world.gateway, ask("m", back), OTHER);
  assert.deepEqual(world.upstream.of("m")[1]?.body.messages, HISTORY);
});

/** A turn in which the gateway's and the client's call have ids that the provider gives in every conversation. */
const numbered = (place: string) => ({
  calls: [
    { ...WEATHER(place), id: "call_0" },
    { ...PIN, id: "call_1" },
  ],
});

async function askAbout(t: TestContext, world: World, place: string): Promise<void> {
  world.upstream.script(place, [streamed(numbered(place)), streamed(ANSWERS)]);
  const messages = [{ role: "user", content: `Weather in ${place}?` }];
  const seen = await stream(world.gateway, ask(place, { messages, tools: TOOLS }));
  assert.deepEqual(
    seen.calls.map(({ id }) => id),
    ["call_1"],
    t.name,
  );
}

test("conversations whose providers number their calls alike do not get each other's results", async (t) => {
  const world = await startWorld(t);
  await askAbout(t, world, "Paris");
  await askAbout(t, world, "Oslo");
  for (const place of ["Paris", "Oslo"]) {
    const messages = [
      { role: "user", content: `Weather in ${place}?` },
      { role: "assistant", content: null, tool_calls: [wire({ ...PIN, id: "call_1" })] },
      result("call_1", "pinned"),
    ];
    await stream(world.gateway, ask(place, { messages, tools: TOOLS }));
    const sent = JSON.stringify(world.upstream.of(place)[1]?.body.messages.slice(1));
    assert.match(sent, new RegExp(place));
    assert.doesNotMatch(sent, place === "Paris" ? /Oslo/ : /Paris/);
  }
});

test("what the gateway did in the rounds before a client's call is put back too", async (t) => {
  const world = await startWorld(t);
  const first = { text: "First. ", calls: [WEATHER("Paris")] };
  const second = { text: "Second. ", calls: [PIN] };
  world.upstream.script("m", [streamed(first), streamed(second), streamed(ANSWERS)]);
  await stream(world.gateway, ask("m", { messages: [USER], tools: TOOLS }));
  const assistant = { role: "assistant", content: "First. Second. ", tool_calls: [wire(PIN)] };
  const messages = [USER, assistant, result("c_pin", "pinned")];
  await stream(world.gateway, ask("m", { messages, tools: TOOLS }));
  assert.deepEqual(world.upstream.of("m")[2]?.body.messages, [
    USER,
    { role: "assistant", content: "First. ", tool_calls: [wire(WEATHER("Paris"))] },
    result("g_Paris", envelope("Paris")),
    { role: "assistant", content: "Second. ", tool_calls: [wire(PIN)] },
    result("c_pin", "pinned"),
  ]);
});
