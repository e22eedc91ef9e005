import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import OpenAI from "openai";
import { noRedis, startRedis } from "../support/redis-server.ts";
import { ask, complete, send } from "./support/client.ts";
import { type Gateway, registerTool, startGateway } from "./support/gateway.ts";
import { whole } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

const ADMIN_KEY = "admin-key-0123456789";
const ENV = { TOOLWEIR_ADMIN_KEY: ADMIN_KEY, TOOLWEIR_KEY_PEPPER: "pepper" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer(ADMIN_KEY);
const YAML = "auth: { mode: keys }";
/** A reference to a secret, as definitions have it. */
const SECRET = "$" + "{secret:X}";

async function makeKey(gateway: Gateway, members: object): Promise<{ id: string; key: string }> {
  const answer = await send(gateway, "/keys", members, ADMIN);
  assert.equal(answer.status, 201);
  return (await answer.json()) as { id: string; key: string };
}

test("a key that was made is told once, opens what it may, and nothing when it is revoked", async (t) => {
  const { gateway, upstream, tools } = await startWorld(t, [], { yaml: YAML, env: ENV });
  await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather") }, ADMIN);
  await registerTool(gateway, "other", { url: tools.urlOf("other") }, ADMIN);
  const { id, key } = await makeKey(gateway, { name: "app", tools: ["get_*"], rate: { per_minute: 3 } });
  assert.match(key, /^tgk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
  const list = await (await fetch(`${gateway.url}/keys`, { headers: ADMIN })).text();
  assert.ok(list.includes(id));
  assert.ok(!list.includes(key.slice(21)) && !/digest|hash/.test(list));
  upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const create = () =>
    client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Go." }] });
  assert.equal((await create()).choices[0]?.message.content, "Let me look. It is sunny.");
  const offered = (upstream.requests[0]?.body.tools ?? []) as { function: { name: string } }[];
  assert.deepEqual(
    offered.map((tool) => tool.function.name),
    ["get_weather"],
  );
  upstream.script("m", [whole(ANSWERS)]);
  for (let n = 0; n < 2; n++) await create();
  await assert.rejects(create, OpenAI.RateLimitError);
  const wrong = bearer(`${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`);
  assert.equal((await complete(gateway, ask("m"), wrong)).status, 401);
  assert.equal((await send(gateway, `/keys/${id}`, undefined, ADMIN, "DELETE")).status, 204);
  assert.equal((await complete(gateway, ask("m"), bearer(key))).body.error.code, "invalid_api_key");
  assert.equal((await send(gateway, `/keys/${id}`, undefined, ADMIN, "DELETE")).status, 404);
});

test("an expired key looks like an unknown one", async (t) => {
  const { gateway } = await startWorld(t, [], { yaml: YAML, env: ENV });
  const { key } = await makeKey(gateway, { name: "old", expires_at: new Date(Date.now() - 1).toISOString() });
  const texts = [];
  for (const given of [key, `tgk_0123456789abcdef_${"A".repeat(43)}`, "nonsense"]) {
    const { status, body } = await complete(gateway, ask("m"), bearer(given));
    texts.push(status, body.error.message);
  }
  assert.deepEqual(new Set(texts), new Set([401, "The API key is not valid."]));
});

test("also where everybody may call, a key that counts no more opens nothing and goes nowhere", async (t) => {
  const { gateway, upstream } = await startWorld(t, [], { yaml: "auth: { mode: none }", env: ENV });
  upstream.script("m", [whole(ANSWERS)]);
  const { id, key } = await makeKey(gateway, { name: "app" });
  assert.equal((await complete(gateway, ask("m"), bearer(key))).status, 200);
  await send(gateway, `/keys/${id}`, undefined, ADMIN, "DELETE");
  assert.equal((await complete(gateway, ask("m"), bearer(key))).status, 401);
  assert.equal(upstream.requests.length, 1);
});

test("bad keys are refused with one sentence, and names are had once", async (t) => {
  const { gateway } = await startWorld(t, [], { yaml: YAML, env: ENV });
  await makeKey(gateway, { name: "app" });
  const refusals = [
    [{}, 400, "name"],
    [{ name: "a b" }, 400, "name"],
    [{ name: "x", role: "root" }, 400, "role"],
    [{ name: "x", max_level: 3 }, 400, "max_level"],
    [{ name: "x", digest: "0" }, 400, "digest"],
    [{ name: "x", expires_at: "tomorrow" }, 400, "expires_at"],
    [{ name: "app" }, 409, "name"],
    [{ name: "admin" }, 409, "name"],
  ] as const;
  for (const [members, status, param] of refusals) {
    const answer = await send(gateway, "/keys", members, ADMIN);
    const { error } = (await answer.json()) as { error: { param: string } };
    assert.deepEqual([answer.status, error.param], [status, param], JSON.stringify(members));
  }
});

test("who keeps the tools cannot widen what they may do", async (t) => {
  const { gateway, tools } = await startWorld(t, [], { yaml: YAML, env: ENV });
  const { key } = await makeKey(gateway, { name: "keeper", role: "tools_admin" });
  const url = tools.urlOf("order");
  const http = { method: "POST", url };
  const put = async (members: object, headers = bearer(key)) =>
    (await send(gateway, "/tools/order", { level: "write", http, ...members }, headers, "PUT")).status;
  assert.equal(await put({}), 201);
  assert.equal(await put({ description: "Orders." }), 200);
  assert.equal(await put({ level: "read" }), 403);
  assert.equal(await put({ confirm: "never" }), 403);
  assert.equal(await put({ http: { ...http, headers: { a: SECRET } } }), 403);
  assert.equal(await put({ four_eyes: true }), 200);
  assert.equal(await put({}), 403);
  assert.equal(await put({ confirm: "never", http: { ...http, headers: { a: SECRET } } }, ADMIN), 200);
  assert.equal(await put({ confirm: "never", http: { ...http, headers: { a: SECRET } } }), 200);
  const elsewhere = { ...http, url: "http://127.0.0.1:1/x", headers: { a: SECRET } };
  assert.equal(await put({ confirm: "never", http: elsewhere }), 403);
  assert.equal((await complete(gateway, ask("m"), bearer(key))).status, 403);
});

test("a key revoked at one gateway opens nothing at another within five seconds", {
  skip: noRedis(),
}, async (t) => {
  const server = await startRedis();
  t.after(() => server.stop());
  const env = { ...ENV, TOOLWEIR_STORE: server.url };
  const [one, two] = [await startGateway(t, { yaml: YAML, env }), await startGateway(t, { yaml: YAML, env })];
  const { id, key } = await makeKey(one, { name: "app" });
  const status = async () => (await fetch(`${two.url}/openapi.json`, { headers: bearer(key) })).status;
  const becomes = async (wanted: number) => {
    const from = performance.now();
    while ((await status()) !== wanted) {
      assert.ok(performance.now() - from < 5_000, `not ${wanted} in time`);
      // More refusals would be 429 for a while.
      await delay(250);
    }
  };
  await becomes(200);
  await send(one, `/keys/${id}`, undefined, ADMIN, "DELETE");
  await becomes(401);
});
