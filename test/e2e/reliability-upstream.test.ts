import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { suite, type TestContext, test } from "node:test";
import OpenAI, { APIError } from "openai";
import { ask, complete, readEvents, send, stream } from "./support/client.ts";
import { type Gateway, registerTool, startGateway } from "./support/gateway.ts";
import { eventually, OpenStream, settled } from "./support/open-stream.ts";
import type { Turn } from "./support/scripted-server.ts";
import { toolServer } from "./support/tool-server.ts";
import { chunk, frames, scriptedUpstream, sse, streamed } from "./support/upstream.ts";

async function startWorld(t: TestContext, turns: readonly Turn[], idle = 30_000) {
  const upstream = await scriptedUpstream(t);
  upstream.script("m", turns);
  upstream.script("other", [streamed({ text: "Fine." })]);
  const yaml = `upstreams: [{ name: main, retry: 2, timeouts_ms: { idle: ${idle} } }]`;
  const gateway = await startGateway(t, { upstream: upstream.baseUrl, yaml });
  return { upstream, gateway };
}

/** What the official SDK makes of a stream: its text, and what it threw. */
async function readBySdk(gateway: Gateway): Promise<{ text: string; thrown: unknown }> {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "unused", maxRetries: 0 });
  let text = "";
  try {
    const messages = [{ role: "user" as const, content: "Go." }];
    for await (const part of await client.chat.completions.create({ model: "m", messages, stream: true })) {
      text += part.choices[0]?.delta.content ?? "";
    }
    return { text, thrown: undefined };
  } catch (thrown) {
    return { text, thrown };
  }
}

const text = (words: string) => chunk({ content: words });
const broken = (...body: string[]): Turn => ({ ...sse(...body), end: "reset" });
const PLAN = streamed({ text: "Here is the plan" });

suite("an upstream that stands still", { concurrency: true }, () => {
  test("inside a call, or an answer in one piece, is asked for once more, then it is the error", async (t) => {
    const HEAD = { index: 0, id: "c1", type: "function" };
    const call = chunk({ tool_calls: [{ ...HEAD, function: { name: "get_weather", arguments: '{"pla' } }] });
    for (const [turn, members] of [
      [{ ...sse(call), end: "hang" }, {}],
      [{ body: ['{"choices":[{"message":{"tool_calls":['], end: "hang" }, { stream: false }],
    ] as const) {
      const { upstream, gateway } = await startWorld(t, [turn], 300);
      await registerTool(gateway, "get_weather", { url: "http://127.0.0.1:1/" });
      const answer = await send(gateway, "/v1/chat/completions", ask("m", members));
      // A stream has begun with its role by then.
      assert.equal(answer.status, "stream" in members ? 504 : 200);
      const body = await answer.text();
      assert.match(body, /"code":"upstream_stream_timeout"/);
      assert.doesNotMatch(body, /"finish_reason":"/);
      assert.equal(upstream.of("m").length, 2);
    }
  });

  test("in the middle of the text ends the stream with an error within twice the idle timeout", async (t) => {
    const { upstream, gateway } = await startWorld(
      t,
      [{ ...sse(text("Hel"), text("lo")), end: "hang" }, PLAN],
      1_000,
    );
    const client = new OpenStream(gateway, ask("m"));
    await client.has('"lo"');
    const saidAt = Number(client.pieces.at(-1)?.at);
    const seen = readEvents(await client.end());
    const waited = Number(client.endedAt) - saidAt;
    assert.ok(waited >= 900 && waited < 2_000, `ended ${waited} ms after the last text`);
    assert.equal(seen.content, "Hello");
    assert.equal(seen.error?.code, "upstream_stream_timeout");
    assert.match(String(seen.error?.message), /idle timeout/);
    assert.equal(seen.finish, null);
    await eventually("the upstream is left", () => upstream.of("m")[0]?.leftAt !== undefined, 500);
    assert.equal(upstream.of("m").length, 1);
    await settled(gateway);
  });

  test("is not given up while anything comes, were it comments", async (t) => {
    const slowly = ["Hel", ": alive\n\n", "lo", ": alive\n\n", " you"].flatMap((words) => [
      words.startsWith(":") ? words : text(words),
      600,
    ]);
    const { gateway } = await startWorld(t, [sse(...slowly, ...frames({}).slice(1))], 1_000);
    const seen = await stream(gateway, ask("m"));
    assert.equal(seen.content, "Hello you");
    assert.equal(seen.finish, "stop");
  });
});

suite("an upstream that breaks off", { concurrency: true }, () => {
  test("after visible text is not asked again", async (t) => {
    const { upstream, gateway } = await startWorld(t, [broken(text("Here is")), PLAN]);
    const seen = await stream(gateway, ask("m"));
    assert.equal(seen.content, "Here is");
    assert.equal(seen.error?.code, "upstream_stream_interrupted");
    assert.equal(seen.finish, null);
    assert.equal(upstream.of("m").length, 1);
    await settled(gateway);
  });

  test("before visible text is asked again, and the client sees one answer", async (t) => {
    const silent = broken(chunk({ role: "assistant", content: "" }));
    const { upstream, gateway } = await startWorld(t, [silent, { ...PLAN, status: 503 }, PLAN]);
    const seen = await stream(gateway, ask("m"));
    assert.equal(seen.content, "Here is the plan");
    assert.equal(seen.finish, "stop");
    assert.equal(seen.chunks.filter(({ choices }) => choices[0]?.delta["role"]).length, 1);
    assert.equal(upstream.of("m").length, 3);
  });

  test("inside an event leaves whole events only, and the SDK throws", async (t) => {
    const cut = broken(text("Hel"), text("lo").slice(0, -14));
    const { gateway } = await startWorld(t, [cut]);
    const seen = await stream(gateway, ask("m"));
    assert.equal(seen.content, "Hel");
    assert.equal(seen.chunks.at(-1)?.error?.code, "upstream_stream_interrupted");
    const { text: read, thrown } = await readBySdk(gateway);
    assert.equal(read, "Hel");
    assert.ok(thrown instanceof APIError, String(thrown));
    assert.equal(thrown.code, "upstream_stream_interrupted");
  });

  for (const end of ["reset", "close"] as const) {
    test(`inside the arguments of a call (${end}) runs nothing`, async (t) => {
      const args = '{"path": "d", "content": "aaa';
      const parts = frames({ text: "Writing.", calls: [{ name: "write_file", args }] }).slice(0, -2);
      const { upstream, gateway } = await startWorld(t, [{ ...sse(...parts), end }]);
      const tools = await toolServer(t);
      await registerTool(gateway, "write_file", { url: tools.urlOf("write_file"), parameters: undefined });
      const seen = await stream(gateway, ask("m"));
      assert.equal(seen.content, "Writing.");
      assert.equal(seen.error?.code, "upstream_stream_interrupted");
      assert.deepEqual(seen.calls, []);
      assert.equal(tools.requests.length, 0);
      assert.equal(upstream.of("m").length, 1);
      assert.equal((await stream(gateway, ask("other"))).content, "Fine.");
      await settled(gateway);
    });
  }
});

suite("an upstream that speaks no HTTP", { concurrency: true }, () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
  for (const [what, bytes] of [
    ["prose", "Good morning.\r\n\r\n"],
    [
      "a length and chunks",
      `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
    ["a bad chunk", `${head}transfer-encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n`],
    ["a header of 70 kB", `${head}x: ${"x".repeat(70_000)}\r\n\r\n`],
    ["ten thousand interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000)],
  ] as const) {
    test(`but ${what} is a 502`, async (t) => {
      const server = createServer((socket) => {
        socket.on("error", () => {}).once("data", () => socket.write(bytes));
        t.after(() => socket.destroy());
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      t.after(() => void server.close());
      const { port } = server.address() as AddressInfo;
      const yaml = "upstreams: [{ name: main, retry: 0, timeouts_ms: { first_byte: 5000 } }]";
      const gateway = await startGateway(t, { upstream: `http://127.0.0.1:${port}/v1`, yaml });
      const { status, body } = await complete(gateway, ask("m"));
      assert.equal(status, 502);
      assert.doesNotMatch(body.error.message, /undefined|127\.0\.0\.1/);
      await settled(gateway);
    });
  }
});

suite("an upstream that refuses", { concurrency: true }, () => {
  for (const status of [400, 401, 403, 404, 422]) {
    test(`with ${status} is asked once, and its words reach the client`, async (t) => {
      const error = { message: "bad thing", type: "invalid_request_error", param: null, code: null };
      const refusal: Turn = { status, body: [JSON.stringify({ error })] };
      const { upstream, gateway } = await startWorld(t, [refusal]);
      const streamedAnswer = new OpenStream(gateway, ask("m"));
      const body = JSON.parse(await streamedAnswer.end()) as { error: typeof error };
      assert.equal(streamedAnswer.status, status);
      assert.match(body.error.message, /bad thing/);
      assert.equal(body.error.type, "invalid_request_error");
      assert.equal(upstream.of("m").length, 1);
      const whole = await complete(gateway, ask("m"));
      assert.equal(whole.status, status);
      assert.equal(upstream.of("m").length, 2);
      assert.equal((await stream(gateway, ask("other"))).content, "Fine.", "others are served as before");
      await settled(gateway);
    });
  }
});
