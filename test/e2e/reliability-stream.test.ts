import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import OpenAI from "openai";
import { exchange } from "../http/raw-client.ts";
import { ask, readEvents } from "./support/client.ts";
import { registerTool, startGateway } from "./support/gateway.ts";
import { OpenStream, settled } from "./support/open-stream.ts";
import { json, toolServer } from "./support/tool-server.ts";
import { chunk, frames, scriptedUpstream, sse, streamed } from "./support/upstream.ts";

/** What may be held for one reader that does not read. */
const MAX_GROWN = 4 * 1024 * 1024;

/** Bytes of buffers that something holds, in the whole process. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().arrayBuffers;
}

/** A model that calls one tool, which takes 1.5 s. */
async function startSlowTool(t: TestContext, keepalive: string) {
  const upstream = await scriptedUpstream(t);
  const tools = await toolServer(t);
  const gateway = await startGateway(t, { upstream: upstream.baseUrl, yaml: `keepalive: ${keepalive}` });
  tools.script("slow", [{ ...json({ done: true }), wait: 1_500 }]);
  await registerTool(gateway, "slow", { url: tools.urlOf("slow") });
  const calls = [{ name: "slow", args: { place: "Oslo" } }];
  upstream.script("m", [streamed({ calls }), streamed({ text: "Done." })]);
  return { upstream, tools, gateway };
}

suite("a stream with a long silence", { concurrency: true }, () => {
  test("begins at once and is kept alive by comments between events", async (t) => {
    const { upstream, tools, gateway } = await startSlowTool(t, "{ every_ms: 200, as: comment }");
    const client = new OpenStream(gateway, ask("m"));
    const seen = readEvents(await client.end());
    assert.ok(seen.comments.length >= 5, `${seen.comments.length} comments`);
    assert.match(seen.text, /^(data: .+\n\n|: keep-alive\n\n)+$/, "a comment is an event of its own");
    assert.equal(seen.content, "Done.");
    assert.equal(seen.finish, "stop");
    const asked = Number(upstream.of("m")[0]?.at);
    const first = Number(client.pieces[0]?.at) - asked;
    assert.ok(first < 700, `the first byte came after ${first} ms`);
    assert.equal(tools.of("slow").length, 1);
    const { comments } = seen;
    await sleep(500);
    assert.equal(readEvents(client.text).comments.length, comments.length, "nothing after the end");
  });

  test("is read by the official SDK, comments and all", async (t) => {
    const { gateway } = await startSlowTool(t, "{ every_ms: 200, as: comment }");
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "unused", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Go." }];
    const answer = await client.chat.completions.stream({ model: "m", messages }).finalChatCompletion();
    assert.equal(answer.choices[0]?.message.content, "Done.");
    assert.equal(answer.choices[0]?.finish_reason, "stop");
  });

  test("is kept alive by whole chunks where comments do not pass", async (t) => {
    const { gateway } = await startSlowTool(t, "{ every_ms: 200, as: chunk }");
    const seen = readEvents(await new OpenStream(gateway, ask("m")).end());
    assert.deepEqual(seen.comments, []);
    const empty = seen.chunks.filter(({ choices }) => choices[0] && !Object.keys(choices[0].delta).length);
    assert.ok(empty.length >= 5, `${empty.length} empty chunks`);
    assert.equal(seen.content, "Done.");
  });
});

for (const [version, header] of [
  ["1.1", "Connection: close\r\n"],
  ["1.0", ""],
] as const) {
  test(`a stream ends the connection of a client of HTTP/${version} that waits for it`, async (t) => {
    const upstream = await scriptedUpstream(t);
    upstream.script("m", [streamed({ text: "Hi." })]);
    const gateway = await startGateway(t, { upstream: upstream.baseUrl });
    const body = JSON.stringify(ask("m"));
    const head = `POST /v1/chat/completions HTTP/${version}\r\nHost: 127.0.0.1\r\n${header}`;
    const rest = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const answer = await exchange(Number(new URL(gateway.url).port), head + rest);
    assert.equal(answer.status, 200);
    assert.match(answer.text, /\r\nconnection: close\r\n/i);
    assert.ok(answer.ms < 5_000, `took ${answer.ms} ms`);
    if (version === "1.0") assert.ok(answer.text.endsWith("data: [DONE]\n\n"), "no chunked framing");
  });
}

test("each piece of a stream leaves as it comes, whatever encodings the client takes", async (t) => {
  const upstream = await scriptedUpstream(t);
  const gateway = await startGateway(t, { upstream: upstream.baseUrl });
  const sentAt: number[] = [];
  const letters = ["a", "b", "c", "d", "e"].flatMap((letter) => [
    async () => void sentAt.push(performance.now()),
    chunk({ content: letter }),
    300,
  ]);
  upstream.script("m", [sse(...letters, ...frames({}).slice(1))]);
  const client = new OpenStream(gateway, ask("m"), { "accept-encoding": "gzip, br" });
  const seen = readEvents(await client.end());
  assert.equal(seen.content, "abcde");
  const late = sentAt.map((at, index) => {
    const letter = `"content":"${"abcde"[index]}"`;
    return Number(client.pieces.find((piece) => piece.text.includes(letter))?.at) - at;
  });
  assert.equal(late.filter((ms) => ms < 250).length, 5, `latencies ${late.map(Math.round)}`);
  assert.ok(late.filter((ms) => ms < 100).length >= 4, `latencies ${late.map(Math.round)}`);
  assert.equal(client.headers["content-encoding"], undefined);
  assert.match(String(client.headers["cache-control"]), /no-cache/);
  assert.equal(client.headers["x-accel-buffering"], "no");
});

test("a slow reader of 20 MB gets all of it once, and the upstream is read no faster", async (t) => {
  const upstream = await scriptedUpstream(t);
  // The pause of the reader is longer than the idle timeout of the upstream, which must not strike meanwhile.
  const yaml = "upstreams: [{ name: main, timeouts_ms: { idle: 700 } }]";
  const gateway = await startGateway(t, { upstream: upstream.baseUrl, yaml });
  const words = Array.from({ length: 5_000 }, (_, index) =>
    String(index).padStart(5, "0").padEnd(4_000, "x"),
  );
  let sent = 0;
  const flood = words.flatMap((word) => [chunk({ content: word }), async () => void sent++]);
  upstream.script("m", [sse(...flood, ...frames({}).slice(1))]);
  const before = heldBytes();
  const client = new OpenStream(gateway, ask("m"));
  client.pausesAtOnce = true;
  await client.has("00000x");
  await sleep(500);
  const stalledAt = sent;
  await sleep(500);
  // Buffers are freed by a thread of their own, which a busy machine makes wait; what is held stays held meanwhile.
  let grown = heldBytes() - before;
  for (let tries = 0; grown >= MAX_GROWN && tries < 30; tries++) {
    await sleep(100);
    grown = heldBytes() - before;
  }
  assert.ok(sent < words.length, "the upstream could not send everything");
  assert.ok(sent - stalledAt < 50, `${sent - stalledAt} more frames were read from the upstream`);
  assert.ok(grown < MAX_GROWN, `${grown} bytes of buffers in the process`);
  client.resume();
  const seen = readEvents(await client.end(30_000));
  assert.ok(seen.content === words.join(""), `${seen.content.length} characters`);
  assert.equal(seen.finish, "stop");
  await settled(gateway);
});
