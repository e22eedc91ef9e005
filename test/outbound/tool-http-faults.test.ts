import assert from "node:assert/strict";
import { once } from "node:events";
import type { LookupFunction, Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createAddressGuard } from "../../src/outbound/address-guard.ts";
import { createToolTransport } from "../../src/outbound/tool-http.ts";
import { attempt, openTransport, serveHttp, serveTcp, toolOf } from "./tool-fixture.ts";

const never = new AbortController().signal;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";

/** Resolves with the time when the client's end of the first connection is closed. */
function closing(): { onSocket: (socket: Socket) => void; closedAt: Promise<number> } {
  const { promise, resolve } = Promise.withResolvers<number>();
  const onSocket = (socket: Socket) => socket.once("close", () => resolve(performance.now())).resume();
  return { onSocket, closedAt: promise };
}

for (const [name, write, scheme] of [
  ["a server that never answers", () => {}, "http"],
  ["a head and then silence", (socket) => socket.write(`${HEAD}content-length: 9\r\n\r\nab`), "http"],
  [
    "a body that drips for ever",
    (socket) => {
      socket.write(`${HEAD}\r\n`);
      const drip = setInterval(() => socket.write("x"), 20);
      socket.once("close", () => clearInterval(drip));
    },
    "http",
  ],
  ["a TLS handshake without an answer", () => {}, "https"],
] as [string, (socket: Socket) => void, string][]) {
  test(`${name}: times out, and the socket is closed at once`, async (t) => {
    const { onSocket, closedAt } = closing();
    const url = await serveTcp(t, (socket) => {
      onSocket(socket);
      write(socket);
    });
    const startedAt = performance.now();
    const tool = toolOf({ url: url.replace("http", scheme) }, { timeout_ms: 300 });
    await assert.rejects(openTransport(t).send(tool, {}, attempt, never), {
      name: "ToolFailure",
      kind: "timeout",
    });
    const elapsed = performance.now() - startedAt;
    assert.ok(elapsed >= 295 && elapsed < 800, `${elapsed} ms`);
    assert.ok((await closedAt) - startedAt < 800);
  });
}

test("an abort closes the socket within 500 ms, before and inside the body", async (t) => {
  for (const head of ["", `${HEAD}content-length: 9\r\n\r\n`]) {
    const { onSocket, closedAt } = closing();
    const connected = Promise.withResolvers<void>();
    const url = await serveTcp(t, (socket) => {
      onSocket(socket);
      socket.write(head);
      connected.resolve();
    });
    const abort = new AbortController();
    const sent = openTransport(t).send(toolOf({ url }), {}, attempt, abort.signal);
    const rejected = assert.rejects(sent, { name: "ToolFailure", kind: "cancelled" });
    await connected.promise;
    await sleep(30);
    const abortedAt = performance.now();
    abort.abort();
    await rejected;
    assert.ok((await closedAt) - abortedAt < 500);
  }
});

test("an aborted signal sends nothing", async (t) => {
  const url = await serveTcp(t, () => assert.fail("connected"));
  const sent = openTransport(t).send(toolOf({ url }), {}, attempt, AbortSignal.abort());
  await assert.rejects(sent, { kind: "cancelled" });
});

test("a huge body is read up to the limit and then closed", async (t) => {
  let closed: Promise<unknown> = Promise.resolve();
  const url = await serveHttp(t, (_, response) => {
    closed = once(response, "close");
    const piece = Buffer.alloc(65_536, "x");
    const pour = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", pour);
    pour();
  });
  const reply = await openTransport(t, 100_000).send(toolOf({ url }), {}, attempt, never);
  assert.deepEqual([reply.body.length, reply.truncated], [100_000, true]);
  await closed;
});

test("nobody listening is unreachable", async (t) => {
  const sent = openTransport(t).send(toolOf({ url: "http://127.0.0.1:1/" }), {}, attempt, never);
  await assert.rejects(sent, { name: "ToolFailure", kind: "unreachable", message: "ECONNREFUSED" });
});

test("an unknown name is unreachable, a forbidden address an invalid request", async (t) => {
  const lookup: LookupFunction = (hostname, _options, callback) => {
    if (hostname === "inside.example.com") callback(null, [{ address: "10.0.0.1", family: 4 }]);
    else callback(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), []);
  };
  const policy = createAddressGuard({ network: "guarded", allowHosts: [], lookup });
  const transport = createToolTransport({ policy, secrets: () => undefined });
  t.after(() => transport.close());
  const send = (url: string) => transport.send(toolOf({ url }), {}, attempt, never);
  await assert.rejects(send("https://gone.example.com/"), { kind: "unreachable", message: "ENOTFOUND" });
  await assert.rejects(send("https://inside.example.com/"), {
    kind: "invalid_request",
    message: /not public/,
  });
});

for (const [name, answer] of [
  ["a reset before the head", (socket) => socket.resetAndDestroy()],
  ["a close inside the head", (socket) => socket.end(HEAD)],
  ["a close inside the body", (socket) => socket.end(`${HEAD}content-length: 9\r\n\r\nab`)],
  ["something else than HTTP", (socket) => socket.end("SSH-2.0-x\r\n")],
] as [string, (socket: Socket) => void][]) {
  test(`${name} is interrupted`, async (t) => {
    const url = await serveTcp(t, (socket) => {
      socket.on("error", () => {});
      socket.once("data", () => answer(socket));
    });
    const sent = openTransport(t).send(toolOf({ url }), {}, attempt, never);
    await assert.rejects(sent, (error: Error & { kind?: string }) => {
      assert.equal(error.kind, "interrupted");
      assert.ok(!error.message.includes(url));
      return true;
    });
  });
}

test("closing ends what is under way", async (t) => {
  const connected = Promise.withResolvers<void>();
  const url = await serveTcp(t, (socket) => {
    socket.once("data", () => connected.resolve());
  });
  const transport = openTransport(t);
  const rejected = assert.rejects(transport.send(toolOf({ url }), {}, attempt, never), {
    kind: "interrupted",
  });
  await connected.promise;
  await transport.close();
  await rejected;
});
