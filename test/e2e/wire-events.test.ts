import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, type Seen, send, stream } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { type ScriptedCall, streamed } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld, type World } from "./support/world.ts";

const EVENTS = { "x-toolweir-events": "1" };

/** The progress of a run whose model makes these calls and then answers. */
async function progressOf({ upstream, gateway }: World, ...calls: ScriptedCall[]): Promise<Seen> {
  upstream.script("m", [streamed({ calls }), streamed(ANSWERS)]);
  const seen = await stream(gateway, ask("m"), EVENTS);
  assert.equal(seen.content, "It is sunny.");
  return seen;
}

const typesOf = ({ progress }: Seen) => progress.map(({ type }) => type);

test("progress events are valid chunks with an empty delta that name run, session, call and round", async (t) => {
  const world = await startWorld(t);
  world.upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const seen = await stream(world.gateway, ask("m"), EVENTS);
  const call = { call_id: "call_get_weather_0", name: "get_weather", round: 1 };
  const run = {
    run_id: seen.headers.get("x-toolweir-run-id"),
    session_id: seen.headers.get("x-toolweir-session"),
  };
  const [args, started, completed] = seen.progress;
  assert.deepEqual(args, { ...run, type: "tool.args", ...call, path: "place", value: "Paris" });
  assert.deepEqual(started, { ...run, type: "tool.started", ...call });
  const { duration_ms, ...rest } = completed ?? {};
  assert.equal(typeof duration_ms, "number");
  assert.deepEqual(rest, { ...run, type: "tool.completed", ...call, attempts: 1 });
  for (const chunk of seen.chunks.filter(({ toolweir }) => toolweir && "type" in toolweir)) {
    assert.deepEqual(chunk.choices, [{ index: 0, delta: {}, finish_reason: null }]);
    assert.equal(chunk.model, "m");
    assert.equal(chunk.id, seen.chunks[0]?.id);
  }
});

test("a number is announced as it was written", async (t) => {
  const world = await startWorld(t, []);
  const number = { type: "number" };
  const parameters = { type: "object", properties: { far: number, fine: number, list: { type: "array" } } };
  await registerTool(world.gateway, "get_weather", { url: world.tools.urlOf("get_weather"), parameters });
  world.upstream.script("m", [
    streamed({
      calls: [{ name: "get_weather", args: '{"far":1e400,"fine":0.12345678901234567891,"list":[2e400]}' }],
    }),
    streamed(ANSWERS),
  ]);
  const response = await send(world.gateway, "/v1/chat/completions", ask("m", { stream: true }), {
    "x-toolweir-events": "1",
  });
  const text = await response.text();
  for (const value of ["1e400", "0.12345678901234567891", "[2e400]"]) {
    assert.ok(text.includes(`"value":${value}`), value);
  }
});

test("a value is announced as soon as it is complete, before the call is", async (t) => {
  const world = await startWorld(t, []);
  const text = { type: "string" };
  const parameters = { type: "object", properties: { place: text, unit: text }, required: ["place"] };
  await registerTool(world.gateway, "get_weather", { url: world.tools.urlOf("get_weather"), parameters });
  const seen = await progressOf(world, { name: "get_weather", args: { place: "Paris", unit: "C" } });
  assert.deepEqual(
    seen.progress.map(({ type, path, value }) => [type, path, value].filter(Boolean).join(" ")),
    ["tool.args place Paris", "tool.args unit C", "tool.started", "tool.completed"],
  );
});

test("tool.rejected says what the model was told", async (t) => {
  const seen = await progressOf(await startWorld(t), { name: "get_weather", args: { town: "Paris" } });
  assert.deepEqual(typesOf(seen), ["tool.args", "tool.rejected"]);
  assert.match(String(seen.progress[1]?.["message"]), /"place"/);
});

test("tool.retry comes before each further attempt, and counts it", async (t) => {
  const world = await startWorld(t, []);
  const url = world.tools.urlOf("get_weather");
  await registerTool(world.gateway, "get_weather", { url, retry: 2, backoff_ms: 10 });
  world.tools.script("get_weather", [json({}, 503), json({}, 503), json({ sun: true })]);
  const seen = await progressOf(world, { name: "get_weather", args: { place: "Paris" } });
  const kinds = ["tool.args", "tool.started", "tool.retry", "tool.retry", "tool.completed"];
  assert.deepEqual(typesOf(seen), kinds);
  assert.deepEqual(
    seen.progress.slice(2, 4).map(({ attempt }) => attempt),
    [2, 3],
  );
  assert.equal(seen.progress[4]?.["attempts"], 3);
});

test("tool.failed names the kind of error, and the run goes on", async (t) => {
  const world = await startWorld(t);
  world.tools.script("get_weather", [json({ error: "no such place" }, 404)]);
  const seen = await progressOf(world, { name: "get_weather", args: { place: "Nowhere" } });
  assert.deepEqual(typesOf(seen), ["tool.args", "tool.started", "tool.failed"]);
  assert.equal(typeof seen.progress[2]?.["error_kind"], "string");
  assert.equal(seen.finish, "stop");
});

test("nothing of the progress is in a stream that did not ask for it", async (t) => {
  const world = await startWorld(t);
  world.upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  for (const headers of [{}, { "x-toolweir-events": "0" }]) {
    assert.deepEqual((await stream(world.gateway, ask("m"), headers)).progress, []);
  }
});

test("strict wins over progress: no chunk has a toolweir member, asked for by header or by setting", async (t) => {
  for (const [yaml, headers] of [
    ["", { ...EVENTS, "x-toolweir-compat": "strict" }],
    ["compat: strict", EVENTS],
  ] as const) {
    const world = await startWorld(t, ["get_weather"], { yaml });
    world.upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
    const seen = await stream(world.gateway, ask("m"), headers);
    assert.equal(seen.content, "Let me look. It is sunny.");
    assert.doesNotMatch(seen.text, /toolweir/);
  }
});
