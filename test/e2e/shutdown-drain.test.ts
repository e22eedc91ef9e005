import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { drain } from "../../src/drain.ts";
import { ask, readEvents } from "./support/client.ts";
import { registerTool, startGateway } from "./support/gateway.ts";
import { eventually, OpenStream } from "./support/open-stream.ts";
import { json, toolServer } from "./support/tool-server.ts";
import { chunk, scriptedUpstream, sse, streamed } from "./support/upstream.ts";

/** A gateway with one tool of the given level, which takes `toolMs` to answer. */
async function startWorld(t: TestContext, level: "read" | "write", toolMs: number) {
  const upstream = await scriptedUpstream(t);
  const tools = await toolServer(t);
  const gateway = await startGateway(t, { upstream: upstream.baseUrl });
  tools.script("act", [{ ...json({ done: true }), wait: toolMs }]);
  await registerTool(gateway, "act", { url: tools.urlOf("act"), level, confirm: "never" });
  upstream.script("m", [
    streamed({ calls: [{ name: "act", args: { place: "Oslo" } }] }),
    streamed({ text: "Done." }),
  ]);
  upstream.script("endless", [{ ...sse(chunk({ content: "Hello" })), end: "hang" }]);
  return { upstream, tools, gateway };
}

suite("draining", { concurrency: true }, () => {
  test("readiness goes first, requests are still answered", async (t) => {
    const { gateway } = await startWorld(t, "read", 0);
    gateway.app.retire();
    const ready = await fetch(`${gateway.url}/readyz`);
    assert.equal(ready.status, 503);
    assert.equal(ready.headers.get("retry-after"), "1");
    assert.equal(((await ready.json()) as { error: { code: string } }).error.code, "not_ready");
    const client = new OpenStream(gateway, ask("m"));
    assert.equal(readEvents(await client.end()).content, "Done.");
  });

  test("a stream that outlives its time gets an error and a clean end", async (t) => {
    const { upstream, gateway } = await startWorld(t, "read", 0);
    const client = new OpenStream(gateway, ask("endless"));
    await client.has("Hello");
    assert.equal(await drain(gateway.app, { openMs: 200, graceMs: 5_000 }), true);
    const seen = readEvents(await client.end());
    assert.equal(client.broken, false);
    assert.equal(seen.content, "Hello");
    assert.equal(seen.error?.code, "shutting_down");
    assert.equal(seen.finish, null);
    assert.ok(upstream.of("endless")[0]?.leftAt !== undefined);
  });

  test("a read that outlives it is aborted, and the model is not asked again", async (t) => {
    const { upstream, tools, gateway } = await startWorld(t, "read", 20_000);
    const client = new OpenStream(gateway, ask("m"));
    await eventually("the tool is called", () => tools.of("act").length === 1);
    assert.equal(await drain(gateway.app, { openMs: 200, graceMs: 5_000 }), true);
    assert.ok(tools.of("act")[0]?.leftAt !== undefined);
    assert.equal(upstream.of("m").length, 1);
    assert.equal(readEvents(await client.end()).error?.code, "shutting_down");
  });

  test("a write that has begun may end", async (t) => {
    const { upstream, tools, gateway } = await startWorld(t, "write", 700);
    const client = new OpenStream(gateway, ask("m"));
    await eventually("the tool is called", () => tools.of("act").length === 1);
    assert.equal(await drain(gateway.app, { openMs: 200, graceMs: 5_000 }), true);
    assert.equal(tools.of("act")[0]?.leftAt, undefined);
    assert.equal(upstream.of("m").length, 1);
    assert.equal(readEvents(await client.end()).error?.code, "shutting_down");
  });

  test("a write whose client has left is waited for", async (t) => {
    const { tools, gateway } = await startWorld(t, "write", 700);
    const client = new OpenStream(gateway, ask("m"));
    await eventually("the tool is called", () => tools.of("act").length === 1);
    client.hangUp();
    assert.equal(await drain(gateway.app, { openMs: 5_000, graceMs: 0 }), false);
    assert.equal(tools.of("act")[0]?.leftAt, undefined);
    assert.equal(gateway.app.engine.openRuns, 0);
  });

  test("what does not even end then is cut off", async (t) => {
    const upstream = await scriptedUpstream(t);
    upstream.script("m", [
      { ...sse(...Array.from({ length: 5_000 }, () => chunk({ content: "x".repeat(4_000) }))), end: "hang" },
    ]);
    const gateway = await startGateway(t, { upstream: upstream.baseUrl });
    const client = new OpenStream(gateway, ask("m"));
    client.pausesAtOnce = true;
    await client.has("xxx");
    // Until the buffers of the system are full, so that the end of the stream cannot get out either.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(await drain(gateway.app, { openMs: 200, graceMs: 200 }), true);
    client.resume();
    await client.end();
    assert.equal(client.broken, true);
  });
});
