import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { suite, test } from "node:test";
import { ask, readEvents } from "./support/client.ts";
import { eventually, OpenStream } from "./support/open-stream.ts";
import { type GatewayProcess, startProcess } from "./support/process.ts";
import { chunk, frame, scriptedUpstream, sse } from "./support/upstream.ts";

/** A promise that a test resolves when it likes. */
function gate() {
  return Promise.withResolvers<void>();
}

/** A stream that stands still in the middle until `release` resolves. */
function held(release: Promise<void>) {
  return sse(
    chunk({ role: "assistant", content: "Hello" }),
    () => release,
    chunk({ content: " world" }),
    chunk({}, "stop"),
    frame("[DONE]"),
  );
}

/** The answer to a GET on a kept connection. */
function get(agent: Agent, url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      let body = "";
      response.on("data", (text) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on("error", reject).end();
  });
}

/** A connection that never sends anything. */
async function silentSocket(gateway: GatewayProcess): Promise<void> {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1").on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
}

suite("a gateway that is told to stop", { concurrency: true }, () => {
  test("lets an open stream end, takes nothing new meanwhile and ends with status 0", async (t) => {
    const upstream = await scriptedUpstream(t);
    const release = gate();
    upstream.script("m", [held(release.promise)]);
    const gateway = await startProcess(t, { env: { TOOLWEIR_UPSTREAM_URL: upstream.baseUrl } });
    await gateway.ready();
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    assert.equal((await get(kept, `${gateway.url}/readyz`)).status, 200);
    const client = new OpenStream(gateway, ask("m"));
    await client.has("Hello");
    const kept503 = keptRequestDuring(gateway, kept);
    gateway.signal("SIGTERM");
    await eventually("no new connection is taken", async () => (await gateway.readiness()) !== 200, 1_000);
    const refused = new OpenStream(gateway, ask("m"));
    await refused.end();
    assert.ok(refused.status === 0 || refused.status === 503, `new request: ${refused.status}`);
    assert.ok([0, 503].includes(await kept503));
    release.resolve();
    const seen = readEvents(await client.end());
    assert.equal(seen.content, "Hello world");
    assert.equal(seen.finish, "stop");
    assert.equal(await gateway.exit(), 0);
    const after = Number(gateway.endedAt) - Number(client.endedAt);
    assert.ok(after < 1_500, `ended ${after} ms after its last stream`);
    assert.match(gateway.stdout, /"stage":"stop","status":"clean"/);
  });

  for (const name of ["SIGTERM", "SIGINT"] as const) {
    test(`ends within 2 s of ${name} when it is idle, whatever connections are open`, async (t) => {
      const gateway = await startProcess(t);
      await gateway.ready();
      const kept = new Agent({ keepAlive: true });
      await get(kept, `${gateway.url}/healthz`);
      await silentSocket(gateway);
      const toldAt = gateway.signal(name);
      assert.equal(await gateway.exit(), 0);
      const took = Number(gateway.endedAt) - toldAt;
      assert.ok(took < 2_000, `took ${took} ms`);
    });
  }

  test("ends at once on a second signal", async (t) => {
    const upstream = await scriptedUpstream(t);
    upstream.script("m", [held(gate().promise)]);
    const gateway = await startProcess(t, { env: { TOOLWEIR_UPSTREAM_URL: upstream.baseUrl } });
    await gateway.ready();
    const client = new OpenStream(gateway, ask("m"));
    await client.has("Hello");
    gateway.signal("SIGTERM");
    await eventually("it stops", async () => (await gateway.readiness()) !== 200, 1_000);
    assert.equal(gateway.endedAt, undefined, "the stream is still open");
    const toldAt = gateway.signal("SIGTERM");
    assert.equal(await gateway.exit(), 1);
    const took = Number(gateway.endedAt) - toldAt;
    assert.ok(took < 1_000, `took ${took} ms`);
    await client.end();
    assert.equal(client.broken, true);
  });
});

/** The status of `/readyz` on a connection that was open before the stop: 0 where it was closed. */
async function keptRequestDuring(gateway: GatewayProcess, kept: Agent): Promise<number> {
  await eventually("it stops", async () => (await gateway.readiness()) !== 200);
  return get(kept, `${gateway.url}/readyz`).then(
    ({ status }) => status,
    () => 0,
  );
}
