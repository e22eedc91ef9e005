/** Several processes on one machine. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, before, suite, test } from "node:test";
import { noRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { eventually } from "./support/open-stream.ts";
import { startProcess } from "./support/process.ts";
import { scriptedUpstream, whole } from "./support/upstream.ts";
import { ANSWERS } from "./support/world.ts";

test("with a store of one process more than one worker ends the start with 78", async (t) => {
  const gateway = await startProcess(t, { env: { TOOLWEIR_WORKERS: "2" } });
  assert.equal(await gateway.exit(), 78);
  assert.match(gateway.stderr, /^environment: TOOLWEIR_WORKERS: expected 1 with this store; .*redis:\/\//);
  const alone = await startProcess(t, { env: { TOOLWEIR_WORKERS: "auto" } });
  await alone.ready();
});

test("a start that cannot succeed ends, as that of one process", { skip: noRedis() }, async (t) => {
  const server = await startRedis();
  t.after(() => server.stop());
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const env = { TOOLWEIR_WORKERS: "2", TOOLWEIR_STORE: server.url, TOOLWEIR_PORT: String(port) };
  const gateway = await startProcess(t, { env });
  assert.equal(await gateway.exit(), 1);
  assert.match(gateway.stderr, /EADDRINUSE/);
});

suite("two workers on one Redis", { skip: noRedis() }, () => {
  let server: RedisServer;
  before(async () => {
    server = await startRedis();
  });
  after(() => server.stop());

  test("share the port and the metrics, replace who dies, and end together", async (t) => {
    const upstream = await scriptedUpstream(t);
    upstream.script("m", [whole(ANSWERS)]);
    const env = {
      TOOLWEIR_WORKERS: "2",
      TOOLWEIR_STORE: server.url,
      TOOLWEIR_UPSTREAM_URL: upstream.baseUrl,
    };
    const gateway = await startProcess(t, { env });
    await gateway.ready();
    const listening = () => gateway.stdout.match(/"status":"listening"/g)?.length ?? 0;
    await eventually("both listen", async () => listening() === 2, 20_000);
    const ask = async () => {
      const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Go." }] });
      const headers = { "content-type": "application/json", connection: "close" };
      return (await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body })).status;
    };
    for (let n = 0; n < 8; n++) assert.equal(await ask(), 200);
    const counted = async () => {
      const text = await (await fetch(`${gateway.url}/metrics`, { headers: { connection: "close" } })).text();
      return Number(/toolweir_runs_total\{stop_reason="completed"\} (\d+)/.exec(text)?.[1]);
    };
    assert.equal(await counted(), 8, "whoever is asked tells of all");
    const [, pid] = /"status":"begun","pid":(\d+)/.exec(gateway.stdout) ?? [];
    process.kill(Number(pid), "SIGSTOP");
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => {
        const signal = AbortSignal.timeout(9_000);
        return fetch(`${gateway.url}/metrics`, { headers: { connection: "close" }, signal }).then(
          ({ status }) => status,
          () => "none",
        );
      }),
    );
    assert.ok(statuses.includes(503), "no figures rather than some of them");
    assert.ok(!statuses.includes(200));
    process.kill(Number(pid), "SIGKILL");
    await eventually("the third listens", async () => listening() === 3, 20_000);
    assert.match(gateway.stdout, /"stage":"workers","status":"died"/);
    assert.equal(await ask(), 200);
    gateway.signal("SIGTERM");
    assert.equal(await gateway.exit(), 0);
  });
});
