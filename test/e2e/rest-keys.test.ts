import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI, { AuthenticationError } from "openai";
import { ask, complete, send, stream } from "./support/client.ts";
import type { Gateway } from "./support/gateway.ts";
import { streamed, whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld, type World } from "./support/world.ts";

const KEYS = `
auth:
  mode: keys
  keys:
    - { name: app, key: key-of-the-app-1, max_level: write }
    - { name: reader, key: key-of-the-reader, max_level: read, tools: ["get_*"] }
`;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer("key-of-the-admin");
const APP = bearer("key-of-the-app-1");
const READER = bearer("key-of-the-reader");

async function start(
  t: Parameters<typeof startWorld>[0],
  upstreamKey = "sk-of-the-upstream",
): Promise<World> {
  const env = { TOOLWEIR_ADMIN_KEY: "key-of-the-admin", TOOLWEIR_UPSTREAM_KEY: upstreamKey };
  const world = await startWorld(t, [], { yaml: KEYS, env });
  const tools = { get_weather: "read", set_alarm: "write", find_place: "read" };
  for (const [name, level] of Object.entries(tools)) {
    const http = { method: "POST", url: world.tools.urlOf(name) };
    const definition = { description: "When asked.", http, level, confirm: "never" };
    const answer = await send(world.gateway, `/tools/${name}`, definition, ADMIN, "PUT");
    assert.equal(answer.status, 201, await answer.text());
  }
  world.upstream.script("m", [streamed(ANSWERS)]);
  return world;
}

test("without a valid key nothing reaches the upstream; the openai SDK raises an authentication error", async (t) => {
  const { upstream, gateway } = await start(t);
  for (const headers of [{}, bearer("wrong"), bearer("sk-of-the-upstream")]) {
    const { status, body } = await complete(gateway, ask("m"), headers);
    assert.equal(status, 401);
    assert.equal(body.error.type, "authentication_error");
  }
  const sdk = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "wrong", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Go." }];
  await assert.rejects(
    sdk.chat.completions.create({ model: "m", messages, stream: true }),
    AuthenticationError,
  );
  assert.equal(upstream.requests.length, 0);
});

test("the admin key is valid on the client API; a client key is refused on /tools", async (t) => {
  const { gateway } = await start(t);
  assert.equal((await stream(gateway, ask("m"), ADMIN)).content, "It is sunny.");
  for (const [path, method] of [
    ["/tools", "GET"],
    ["/tools/get_weather", "DELETE"],
    ["/tools/get_weather/invoke", "POST"],
  ] as const) {
    const response = await send(gateway, path, method === "POST" ? {} : undefined, APP, method);
    assert.equal(response.status, 403, path);
    const { error } = (await response.json()) as { error: { type: string } };
    assert.equal(error.type, "permission_error");
  }
});

async function offeredTo({ upstream, gateway }: World, headers: Record<string, string>): Promise<string[]> {
  await stream(gateway, ask("m"), headers);
  return (
    upstream
      .of("m")
      .at(-1)
      ?.body.tools?.map((tool) => tool.function.name) ?? []
  );
}

test("a key is offered only the tools of its level and its globs", async (t) => {
  const world = await start(t);
  assert.deepEqual(await offeredTo(world, APP), ["find_place", "get_weather", "set_alarm"]);
  assert.deepEqual(await offeredTo(world, READER), ["get_weather"]);
  for (const name of ["set_alarm", "find_place"]) {
    const { status, body } = await complete(world.gateway, ask("m"), { ...READER, "x-toolweir-tools": name });
    assert.equal(status, 403);
    assert.equal(body.error.code, "tool_not_permitted");
  }
});

test("a call of a tool that the key may not use is refused to the model and does not run", async (t) => {
  const world = await start(t);
  world.upstream.script("m", [streamed({ calls: [{ name: "set_alarm", args: {} }] }), streamed(ANSWERS)]);
  await stream(world.gateway, ask("m"), READER);
  assert.equal(world.tools.requests.length, 0);
  assert.match(String(world.upstream.of("m")[1]?.body.messages.at(-1)?.content), /set_alarm/);
});

const recordOf = (gateway: Gateway, id: string, headers: Record<string, string>) =>
  send(gateway, `/runs/${id}`, undefined, headers, "GET");

test("the record of a run is for its own key and for the administrator", async (t) => {
  const { upstream, gateway } = await start(t);
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const id = (await stream(gateway, ask("m"), APP)).headers.get("x-toolweir-run-id") ?? "";
  for (const headers of [APP, ADMIN]) {
    const record = (await (await recordOf(gateway, id, headers)).json()) as {
      stop_reason: string;
      rounds: { calls: { name: string; raw: string; gates: unknown[]; outcome: string }[] }[];
    };
    assert.equal(record.stop_reason, "completed");
    assert.equal(record.rounds.length, 2);
    const [call] = record.rounds[0]?.calls ?? [];
    assert.deepEqual([call?.name, call?.raw], ["get_weather", '{"place":"Paris"}']);
    assert.ok((call?.gates.length ?? 0) > 0);
  }
  assert.equal((await recordOf(gateway, id, READER)).status, 404);
  assert.equal((await recordOf(gateway, id, {})).status, 401);
});

test("an upstream with a key gets that key, never a key of the gateway", async (t) => {
  const { upstream, gateway } = await start(t);
  for (const headers of [APP, READER, ADMIN]) await stream(gateway, ask("m"), headers);
  await send(gateway, "/v1/models", undefined, APP, "GET");
  assert.deepEqual(
    new Set(upstream.requests.map(({ headers }) => headers.authorization)),
    new Set(["Bearer sk-of-the-upstream"]),
  );
  assert.doesNotMatch(JSON.stringify(upstream.requests), /key-of-the/);
});

test("an upstream without a key gets none of the gateway's keys", async (t) => {
  const { upstream, gateway } = await start(t, "");
  for (const headers of [APP, ADMIN]) await stream(gateway, ask("m"), headers);
  await send(gateway, "/v1/models", undefined, APP, "GET");
  assert.equal(upstream.requests.length, 3);
  assert.doesNotMatch(JSON.stringify(upstream.requests), /key-of-the/);
  assert.ok(upstream.requests.every(({ headers }) => headers.authorization === undefined));
});

test("an open gateway without an upstream key passes the client's own on, and to no tool", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
  await complete(gateway, ask("m"), bearer("sk-of-the-client"));
  await send(gateway, "/v1/models", undefined, bearer("sk-of-the-client"), "GET");
  assert.deepEqual(
    upstream.requests.map(({ headers }) => headers.authorization),
    Array(3).fill("Bearer sk-of-the-client"),
  );
  assert.equal(tools.requests.length, 1);
  assert.doesNotMatch(JSON.stringify(tools.requests), /sk-of-the-client/);
});
