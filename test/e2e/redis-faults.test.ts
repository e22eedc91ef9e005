/** What a gateway does when its Redis fails. */
import assert from "node:assert/strict";
import { afterEach, suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freePort, noRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { ask, complete, send, stream } from "./support/client.ts";
import { type Gateway, registerTool, startGateway } from "./support/gateway.ts";
import { toolServer } from "./support/tool-server.ts";
import { scriptedUpstream, whole } from "./support/upstream.ts";
import { ANSWERS, ASKS } from "./support/world.ts";

const until = async (holds: () => Promise<boolean>, ms = 8_000) => {
  const end = performance.now() + ms;
  while (!(await holds())) {
    assert.ok(performance.now() < end, "it takes too long");
    await delay(50);
  }
};
const status = async (gateway: Gateway, path: string) => (await fetch(gateway.url + path)).status;

const servers: RedisServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function redis(...settings: string[]): Promise<RedisServer> {
  const server = await startRedis(...settings);
  servers.push(server);
  return server;
}

async function world(t: TestContext, port: number, yaml = "") {
  const upstream = await scriptedUpstream(t);
  const tools = await toolServer(t);
  const env = { TOOLWEIR_STORE: `redis://127.0.0.1:${port}/0` };
  const gateway = await startGateway(t, { upstream: upstream.baseUrl, env, yaml });
  return { upstream, tools, gateway };
}

suite("a gateway whose Redis fails", { skip: noRedis() }, () => {
  test("starts without it, takes no work, and is ready when it comes", async (t) => {
    const port = await freePort();
    const { gateway, upstream } = await world(t, port);
    upstream.script("m", [whole(ANSWERS)]);
    assert.equal(await status(gateway, "/healthz"), 200);
    assert.equal(await status(gateway, "/readyz"), 503);
    const refused = await complete(gateway, ask("m"));
    assert.deepEqual([refused.status, refused.body.error.code], [503, "store_unavailable"]);
    assert.equal(upstream.requests.length, 0);
    await redis("--port", String(port));
    await until(async () => (await status(gateway, "/readyz")) === 200);
    assert.equal((await complete(gateway, ask("m"))).status, 200);
  });

  for (const [how, fail] of [
    ["ends", (server: RedisServer) => server.process.kill("SIGKILL")],
    ["stands still", (server: RedisServer) => server.process.kill("SIGSTOP")],
  ] as const) {
    test(`when it ${how} nothing is changed, and plain chats and reads go on`, async (t) => {
      const server = await redis();
      const { gateway, upstream, tools } = await world(
        t,
        server.port,
        "limits: { user_rate: { per_minute: 1000 } }",
      );
      await registerTool(gateway, "get_weather", { url: tools.urlOf("get_weather"), cache_ttl_s: 60 });
      const changes = { url: tools.urlOf("create_order"), level: "write", confirm: "never" };
      await registerTool(gateway, "create_order", changes);
      fail(server);
      await delay(300);
      upstream.script("plain", [whole(ANSWERS)]);
      const plain = await stream(gateway, ask("plain", { user: "ann" }));
      assert.deepEqual([plain.status, plain.error], [200, undefined]);
      upstream.script("reads", [whole(ASKS), whole(ANSWERS)]);
      const reads = await complete(gateway, ask("reads"));
      assert.equal(reads.body.toolweir.tools[0].ok, true);
      upstream.script("writes", [
        whole({ calls: [{ name: "create_order", args: { place: "x" } }] }),
        whole(ANSWERS),
      ]);
      const writes = await complete(gateway, ask("writes"));
      assert.equal(writes.status, 200);
      assert.equal(writes.body.toolweir.tools[0].ok, false);
      const told = JSON.stringify(upstream.of("writes").at(-1)?.body.messages);
      assert.match(told, /could not be stored|cannot record|not executed|nothing was changed/i);
      assert.deepEqual(
        tools.requests.map(({ url }) => url),
        ["/tool/get_weather"],
        "nothing is sent that could not be written down",
      );
      const approvals = await send(gateway, "/approvals/apr_1/approve", {});
      assert.equal(approvals.status, 503);
      assert.equal(await status(gateway, "/readyz"), 503);
      server.process.kill("SIGCONT");
    });
  }
});

suite("a gateway whose Redis is not set up for it", { skip: noRedis() }, () => {
  test("a store that would drop entries is refused at the start", async (t) => {
    const server = await redis("--maxmemory-policy", "allkeys-lru", "--maxmemory", "100mb");
    await assert.rejects(world(t, server.port), /maxmemory-policy to noeviction/);
  });

  test("an intent that no replica has is not sent", async (t) => {
    const server = await redis("--repl-diskless-sync-delay", "0");
    const { gateway, upstream, tools } = await world(t, server.port, "ledger: { min_acks: 1 }");
    const changes = { url: tools.urlOf("create_order"), level: "write", confirm: "never" };
    await registerTool(gateway, "create_order", changes);
    const calls = [whole({ calls: [{ name: "create_order", args: { place: "x" } }] }), whole(ANSWERS)];
    upstream.script("m", calls);
    assert.equal((await complete(gateway, ask("m"))).body.toolweir.tools[0].ok, false);
    assert.equal(tools.requests.length, 0);
    await redis("--replicaof", "127.0.0.1", String(server.port));
    await until(async () => {
      upstream.script("m", [...calls]);
      return (await complete(gateway, ask("m"))).body.toolweir.tools[0].ok;
    });
    assert.equal(tools.requests.length, 1);
  });
});
