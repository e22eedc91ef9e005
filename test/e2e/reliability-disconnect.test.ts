import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "./support/client.ts";
import { registerTool, startGateway } from "./support/gateway.ts";
import { eventually, metric, OpenStream, openRuns, settled } from "./support/open-stream.ts";
import type { Recorded, Turn } from "./support/scripted-server.ts";
import { json, toolServer } from "./support/tool-server.ts";
import { chunk, scriptedUpstream, sse, streamed } from "./support/upstream.ts";

/** How long what the gateway had open may outlive the client. */
const SOON_MS = 500;

const SILENT: Turn = { wait: 30_000 };

async function startWorld(t: TestContext, turns: readonly Turn[], yaml?: string) {
  const upstream = await scriptedUpstream(t);
  upstream.script("m", turns);
  const gateway = await startGateway(t, { upstream: upstream.baseUrl, ...(yaml !== undefined && { yaml }) });
  return { upstream, gateway };
}

/** The other side saw the connection close within half a second of the hang-up. */
async function leftSoon(request: Recorded | undefined, hungUpAt: number): Promise<void> {
  await eventually("the connection closes", () => request?.leftAt !== undefined, 2_000);
  const after = Number(request?.leftAt) - hungUpAt;
  assert.ok(after < SOON_MS, `closed ${after} ms after the hang-up`);
}

const text = (words: string) => chunk({ content: words });

suite("a client that leaves", { concurrency: true }, () => {
  for (const [name, stream] of [
    ["a streamed", true],
    ["an unstreamed", false],
  ] as const) {
    test(`before the first byte of ${name} answer closes the upstream's connection`, async (t) => {
      const { upstream, gateway } = await startWorld(t, [SILENT]);
      const client = new OpenStream(gateway, ask("m", { stream }));
      await eventually("the upstream is asked", () => upstream.of("m").length === 1);
      await sleep(200);
      assert.equal(await openRuns(gateway), 1);
      await leftSoon(upstream.of("m")[0], client.hangUp());
      await settled(gateway);
      assert.equal(upstream.of("m").length, 1, "nothing is asked again");
    });
  }

  test("in the middle of the text closes the upstream's connection", async (t) => {
    const { upstream, gateway } = await startWorld(t, [{ ...sse(text("Hello ")), end: "hang" }]);
    const client = new OpenStream(gateway, ask("m"));
    await client.has("Hello ");
    await leftSoon(upstream.of("m")[0], client.hangUp());
    await settled(gateway);
  });

  test("while the gateway waits to ask again is not asked for again", async (t) => {
    const down: Turn = { status: 503, body: ['{"error":{"message":"down"}}'] };
    const slow = "upstreams: [{ name: main, retry: 10 }]";
    const { upstream, gateway } = await startWorld(t, [down], slow);
    const client = new OpenStream(gateway, ask("m"));
    await eventually("the upstream is asked twice", () => upstream.of("m").length >= 2);
    client.hangUp();
    await settled(gateway);
    const asked = upstream.of("m").length;
    await sleep(1_000);
    assert.equal(upstream.of("m").length, asked);
  });

  test("while its buffer is full closes the upstream's connection", async (t) => {
    const flood = Array.from({ length: 5_000 }, () => text("x".repeat(4_000)));
    const { upstream, gateway } = await startWorld(t, [{ ...sse(...flood), end: "hang" }]);
    const client = new OpenStream(gateway, ask("m"));
    client.pausesAtOnce = true;
    await client.has("xxx");
    await sleep(1_000);
    assert.equal(await openRuns(gateway), 1, "a slow client is no reason to end the run");
    await leftSoon(upstream.of("m")[0], client.hangUp());
    await settled(gateway);
  });
});

suite("a client that leaves while tools run", { concurrency: true }, () => {
  const slow: Turn = { ...json({ done: true }), wait: 10_000 };
  const calledFirst = (outcome: string) => `toolweir_tool_calls_total{tool="first",outcome="${outcome}"}`;
  const calls = ["first", "second", "third"].map((name) => ({ name, args: { place: "Oslo" } }));

  async function leaveDuringTools(t: TestContext, parallel: boolean) {
    const { upstream, gateway } = await startWorld(t, [streamed({ calls }), streamed({ text: "Done." })]);
    const tools = await toolServer(t);
    for (const { name } of calls) {
      tools.script(name, [slow]);
      await registerTool(gateway, name, { url: tools.urlOf(name), retry: 2, parallel_safe: parallel });
    }
    const client = new OpenStream(gateway, ask("m"));
    await eventually("the tools are called", () => tools.requests.length === (parallel ? 3 : 1));
    await sleep(300);
    const hungUpAt = client.hangUp();
    for (const request of tools.requests) await leftSoon(request, hungUpAt);
    await settled(gateway);
    await sleep(700);
    return { upstream, gateway, tools, client };
  }

  test("in parallel has every one of them aborted", async (t) => {
    const { upstream, tools, gateway, client } = await leaveDuringTools(t, true);
    assert.equal(upstream.requests.length, 1, "the model is not asked again");
    assert.equal(tools.requests.length, 3, "no aborted tool is called again");
    assert.equal(await metric(gateway, calledFirst("cancelled")), 1);
    assert.equal(await metric(gateway, calledFirst("error")), 0, "leaving is no failure of the tool");
    const runs = `${gateway.url}/runs/${client.headers["x-toolweir-run-id"]}`;
    const run = (await (await fetch(runs)).json()) as { stop_reason: string };
    assert.equal(run.stop_reason, "cancelled");
  });

  test("one after the other has the first aborted and the others never begun", async (t) => {
    const { upstream, tools } = await leaveDuringTools(t, false);
    assert.equal(upstream.requests.length, 1);
    assert.deepEqual(
      tools.requests.map(({ url }) => url),
      ["/tool/first"],
    );
  });

  test("does not stop a write that has begun, and it is recorded", async (t) => {
    const [call] = calls;
    const { upstream, gateway } = await startWorld(t, [
      streamed({ calls: call ? [call] : [] }),
      streamed({ text: "Done." }),
    ]);
    const tools = await toolServer(t);
    tools.script("first", [{ ...json({ written: true }), wait: 700 }]);
    await registerTool(gateway, "first", { url: tools.urlOf("first"), level: "write", confirm: "never" });
    const client = new OpenStream(gateway, ask("m"));
    await eventually("the tool is called", () => tools.requests.length === 1);
    client.hangUp();
    await eventually("the run ends", async () => (await openRuns(gateway)) === 0);
    assert.equal(tools.requests[0]?.leftAt, undefined, "the tool could answer");
    assert.equal(upstream.requests.length, 1);
    assert.equal(await metric(gateway, calledFirst("ok")), 1);
  });
});

test("three hundred clients that leave at any moment leave nothing behind", async (t) => {
  const { upstream, gateway } = await startWorld(t, [
    { ...sse(chunk({ role: "assistant", content: "" }), 5, text("Hello "), 5, text("world")), end: "hang" },
  ]);
  for (let round = 0; round < 10; round++) {
    const clients = Array.from({ length: 30 }, () => new OpenStream(gateway, ask("m")));
    await Promise.all(clients.map((client, index) => sleep(index).then(() => client.hangUp())));
  }
  await eventually("no run is open", () => gateway.app.engine.openRuns === 0);
  await eventually("no run is counted", async () => (await openRuns(gateway)) === 0);
  await eventually("every connection to the upstream is closed", () =>
    upstream.requests.every(({ leftAt }) => leftAt !== undefined),
  );
  assert.ok(upstream.requests.length > 0);
});
