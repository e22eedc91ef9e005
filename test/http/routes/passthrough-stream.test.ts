import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { exchange } from "../raw-client.ts";
import { startGateway, startUpstream } from "./pass.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

test("events come through one by one, head first", async (t) => {
  let next = () => {};
  const upstream = await startUpstream(t, (_request, response) => {
    const frames = ["data: 1\n\n", "data: 2\n\n", ": ping\n\n", "data: [DONE]\n\n"];
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    next = () => {
      const frame = frames.shift();
      if (frame === undefined) response.end();
      else response.write(frame);
    };
  });
  const port = await startGateway(t, upstream);
  const answer = await request(`http://127.0.0.1:${port}/v1/runs/stream`);
  assert.equal(answer.headers["content-type"], "text/event-stream");
  const got: string[] = [];
  next(); // only after the head has arrived
  for await (const chunk of answer.body) {
    got.push(String(chunk));
    next();
  }
  assert.deepEqual(got, ["data: 1\n\n", "data: 2\n\n", ": ping\n\n", "data: [DONE]\n\n"]);
});

for (const [phase, path] of [
  ["before the head", "/v1/silent"],
  ["in the midst of the body", "/v1/stream"],
] as const) {
  test(`a client that leaves ${phase} ends the request to the upstream at once`, async (t) => {
    const gone = Promise.withResolvers<number>();
    const reached = Promise.withResolvers<void>();
    const upstream = await startUpstream(t, (incoming, response) => {
      response.on("close", () => gone.resolve(performance.now()));
      if (incoming.url?.endsWith("stream")) response.write("begun");
      reached.resolve();
    });
    const port = await startGateway(t, upstream);
    const client = connect(port, "127.0.0.1").on("error", () => {});
    client.write(get(path));
    await reached.promise;
    if (phase !== "before the head") await once(client, "data");
    const left = performance.now();
    client.destroy();
    assert.ok((await gone.promise) - left < 500);
  });
}

test("an upstream that breaks off ends the connection to the client", async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    setTimeout(() => response.destroy(), 50);
  });
  const port = await startGateway(t, upstream);
  const { text } = await exchange(port, get("/v1/stream"));
  assert.match(text, /data: 1/);
  assert.doesNotMatch(text, /\r\n0\r\n\r\n$/, "no proper end of the chunked body");
});

test("a client that does not read stops the upstream, and gets every byte in the end", async (t) => {
  const total = 24 * 1024 * 1024;
  let written = 0;
  const upstream = await startUpstream(t, async (_request, response) => {
    response.writeHead(200, { "content-length": total });
    for (; written < total; written += 65_536) {
      if (!response.write(Buffer.alloc(65_536, "x"))) await once(response, "drain");
    }
    response.end();
  });
  const port = await startGateway(t, upstream);
  const client = connect(port, "127.0.0.1").pause();
  client.write(get("/v1/files/1/content").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  let before = -1;
  while (before !== written) {
    before = written;
    await sleep(300);
  }
  assert.ok(written < total, `${written} of ${total} bytes were taken from the upstream`);
  const ended = once(client, "end");
  let received = 0;
  let head = "";
  client.on("data", (chunk) => {
    received += chunk.length;
    head ||= chunk.toString("latin1").split("\r\n\r\n", 1)[0] ?? "";
  });
  client.resume();
  await ended;
  assert.equal(received, head.length + 4 + total);
});

test("a client that never reads again is cut off, and the upstream with it", async (t) => {
  const gone = Promise.withResolvers<void>();
  const upstream = await startUpstream(t, (_request, response) => {
    response.on("close", gone.resolve);
    response.write(Buffer.alloc(32 * 1024 * 1024));
  });
  const port = await startGateway(t, upstream, { stallMs: 300 });
  const client = connect(port, "127.0.0.1").pause();
  client.on("error", () => {}).write(get("/v1/files/1/content"));
  await gone.promise;
  client.destroy();
});

test("an upload is not read faster than the upstream takes it", async (t) => {
  let resume = () => {};
  const upstream = await startUpstream(t, (incoming, response) => {
    resume = () => incoming.resume();
    incoming.pause().on("end", () => response.end("taken"));
  });
  const port = await startGateway(t, upstream);
  const total = 32 * 1024 * 1024;
  const client = connect(port, "127.0.0.1");
  client.write(
    `POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: ${total}\r\n\r\n`,
  );
  client.write(Buffer.alloc(total, "x"));
  let before = -1;
  while (before !== client.bytesWritten - client.writableLength || client.connecting) {
    before = client.bytesWritten - client.writableLength;
    await sleep(300);
  }
  assert.ok(client.writableLength > 0, "the gateway swallowed the whole upload");
  resume();
  let text = "";
  for await (const chunk of client) text += chunk;
  assert.match(text, /^HTTP\/1\.1 200[\s\S]*taken/);
});
