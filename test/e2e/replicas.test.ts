/** Several gateways on one Redis are one gateway. */
import assert from "node:assert/strict";
import { after, before, suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { ask, complete, send } from "./support/client.ts";
import { type Gateway, registerTool, startGateway } from "./support/gateway.ts";
import { toolServer } from "./support/tool-server.ts";
import { scriptedUpstream, whole } from "./support/upstream.ts";
import { ANSWERS, ASKS } from "./support/world.ts";

suite("gateways on one Redis", { skip: noRedis() }, () => {
  let server: RedisServer;
  before(async () => {
    server = await startRedis("--appendonly", "yes");
  });
  after(() => server.stop());

  const world = (t: TestContext, count: number, yaml?: string) => startWorld(t, server, count, yaml);
  test("a tool that is registered at one is offered by the others within a second", async (t) => {
    const { one, two, tools, upstream } = await world(t, 2);
    await registerTool(one, "get_weather", { url: tools.urlOf("get_weather") }, ADMIN);
    await delay(1_000);
    upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
    const { body } = await complete(two, ask("m"), ADMIN);
    assert.equal(body.toolweir.tools[0].ok, true);
    await fetch(`${two.url}/tools/get_weather`, { method: "DELETE", headers: ADMIN });
    await delay(1_000);
    assert.equal((await fetch(`${one.url}/tools/get_weather`, { headers: ADMIN })).status, 404);
    upstream.script("m", [whole(ANSWERS)]);
    await complete(one, ask("m"), ADMIN);
    assert.equal(upstream.requests.at(-1)?.body.tools, undefined);
  });

  test("a call is approved at another gateway than the one that asked, and runs once", async (t) => {
    const { one, two, tools, upstream } = await world(t, 2);
    await registerTool(one, "create_order", { url: tools.urlOf("create_order"), level: "write" }, ADMIN);
    await delay(1_000);
    upstream.script("m", [
      whole({ calls: [{ name: "create_order", args: { place: "x" } }] }),
      whole(ANSWERS),
    ]);
    const asked = await complete(one, ask("m"), ADMIN);
    const [pending] = asked.body.toolweir.pending_approvals;
    const approve = (gateway: Gateway) => send(gateway, `/approvals/${pending.id}/approve`, {}, ADMIN);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => approve(n % 2 ? one : two)));
    assert.ok(answers.every(({ status }) => status === 200));
    const resumed = await send(two, `/runs/${asked.body.toolweir.run_id}/resume`, {}, ADMIN);
    assert.equal(resumed.status, 200);
    assert.equal(tools.requests.length, 1);
  });

  test("of a hundred requests at once over two gateways exactly as many are admitted as may be", async (t) => {
    const { gateways, upstream } = await world(t, 2, RATED);
    upstream.script("m", [whole(ANSWERS)]);
    const headers = { authorization: "Bearer key-one-0123456789" };
    for (let round = 0; round < 50; round++) {
      await server.flush();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) => complete(gateways[n % 2] as Gateway, ask("m"), headers)),
      );
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      assert.deepEqual([count(200), count(429)], [10, 90]);
    }
  });

  stateTest(world);
});

const ADMIN_KEY = "admin-key-0123456789";
const ADMIN = { authorization: `Bearer ${ADMIN_KEY}` };
const RATED =
  "auth: { mode: keys, keys: [{ name: one, key: key-one-0123456789, rate: { per_minute: 10 } }] }";

/** So many gateways between one upstream and one server of tools. */
async function startWorld(t: TestContext, server: RedisServer, count: number, yaml?: string) {
  await server.flush();
  const upstream = await scriptedUpstream(t);
  const tools = await toolServer(t);
  const env = { TOOLWEIR_STORE: server.url, TOOLWEIR_ADMIN_KEY: ADMIN_KEY };
  const options = { upstream: upstream.baseUrl, env, ...(yaml !== undefined && { yaml }) };
  const gateways: Gateway[] = [];
  for (let n = 0; n < count; n++) gateways.push(await startGateway(t, options));
  const [one, two] = gateways as [Gateway, Gateway];
  return { upstream, tools, gateways, one, two };
}

function stateTest(world: (t: TestContext, count: number) => ReturnType<typeof startWorld>): void {
  test("a session and a cached result are there at every gateway", async (t) => {
    const { one, two, tools, upstream } = await world(t, 2);
    const members = { url: tools.urlOf("get_weather"), cache_ttl_s: 60, shared: true };
    await registerTool(one, "get_weather", members, ADMIN);
    await delay(1_000);
    const headers = { ...ADMIN, "x-toolweir-session": "s1" };
    const cached = [];
    for (const gateway of [one, two]) {
      upstream.script("m", [whole(ASKS), whole(ANSWERS)]);
      cached.push((await complete(gateway, ask("m"), headers)).body.toolweir.tools[0].cached);
    }
    assert.deepEqual([cached, tools.requests.length], [[false, true], 1]);
    const session = await (await fetch(`${one.url}/sessions/s1`, { headers: ADMIN })).json();
    assert.equal(
      (session as { tools_used: Record<string, { count: number }> }).tools_used["get_weather"]?.count,
      2,
    );
  });

  test("what a run did can be read at every gateway, digit for digit", async (t) => {
    const { one, two, tools, upstream } = await world(t, 2);
    await registerTool(one, "count", { url: tools.urlOf("count"), parameters: COUNT }, ADMIN);
    const args = '{"n":"12345678901234567890"}';
    upstream.script("m", [whole({ calls: [{ name: "count", args }] }), whole(ANSWERS)]);
    const { body } = await complete(one, ask("m"), ADMIN);
    const read = async (gateway: Gateway) => {
      const answer = await fetch(`${gateway.url}/runs/${body.toolweir.run_id}`, { headers: ADMIN });
      return [answer.status, await answer.text()] as const;
    };
    const [status, text] = await read(one);
    assert.match(text, /12345678901234567890[,}\]]/);
    assert.deepEqual(await read(two), [status, text]);
  });
}

const COUNT = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
