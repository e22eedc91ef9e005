import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { attempt, bodyOf, openTransport, serveHttp, toolOf } from "./tool-fixture.ts";

const never = new AbortController().signal;

test("the arguments and the gateway's headers arrive", async (t) => {
  let seen: IncomingHttpHeaders = {};
  let body = "";
  const url = await serveHttp(t, async (request, response) => {
    seen = request.headers;
    body = await bodyOf(request);
    response.end("{}");
  });
  const headers = {
    "X-Key": `\${secret:KEY}`,
    "X-Toolweir-Run-Id": "forged",
    host: "evil.example",
    "user-agent": "own",
  };
  const tool = toolOf({ method: "POST", url: `${url}/a`, headers });
  const reply = await openTransport(t).send(tool, { n: 2n ** 60n }, { ...attempt, user: "u" }, never);
  assert.deepEqual([reply.status, reply.body.toString()], [200, "{}"]);
  assert.equal(body, '{"n":1152921504606846976}');
  const { connection, "content-length": _, ...rest } = seen;
  assert.equal(connection, "keep-alive");
  assert.deepEqual(rest, {
    host: url.slice(7),
    accept: "application/json, */*;q=0.5",
    "user-agent": "own",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "x-key": "s3cret",
    "x-toolweir-run-id": "run1",
    "x-toolweir-call-id": "call1",
    "x-toolweir-session": "session1",
    "x-toolweir-user": "u",
    "idempotency-key": "key1",
    traceparent: attempt.traceparent,
    "x-toolweir-hops": "1",
  });
});

test("names that no header can hold are percent-encoded, endless ones left out", async (t) => {
  let seen: IncomingHttpHeaders = {};
  const url = await serveHttp(t, (request, response) => {
    seen = request.headers;
    response.end();
  });
  const people = { user: "张\r\nx-evil: 1", sessionId: "s".repeat(5000) };
  await openTransport(t).send(toolOf({ url }), {}, { ...attempt, ...people }, never);
  assert.equal(seen["x-toolweir-user"], "%E5%BC%A0%0D%0Ax-evil: 1");
  for (const name of ["x-evil", "x-toolweir-session"]) assert.equal(seen[name], undefined);
});

test("every status is an answer, a redirect is not followed", async (t) => {
  let requests = 0;
  const url = await serveHttp(t, (request, response) => {
    requests++;
    const status = Number(request.url?.slice(1));
    response.writeHead(status, {
      location: "/200",
      "retry-after": "2",
      "content-type": "text/plain; charset=x",
    });
    response.end("b");
  });
  const transport = openTransport(t);
  const statuses = [200, 301, 302, 307, 308, 404, 429, 500, 503];
  for (const status of statuses) {
    const reply = await transport.send(toolOf({ url: `${url}/{s}` }), { s: status }, attempt, never);
    assert.equal(reply.status, status);
    assert.equal(reply.retryAfterMs, 2000);
    assert.equal(reply.contentType, "text/plain; charset=x");
  }
  assert.equal(requests, statuses.length);
});

test("read tools share connections, a write tool gets its own", async (t) => {
  const ports: (number | undefined)[] = [];
  const url = await serveHttp(t, (request, response) => {
    ports.push(request.socket.remotePort);
    response.end("x");
  });
  const transport = openTransport(t);
  for (const level of ["read", "read", "write", "write", "admin"] as const) {
    await transport.send(toolOf({ url }, { level }), {}, attempt, never);
    await sleep(20); // a connection is free again a moment after its answer ended
  }
  assert.equal(ports[0], ports[1]);
  assert.equal(new Set(ports).size, 4);
});

for (const [encoding, pack] of [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
] as const) {
  test(`a body packed with ${encoding} is unpacked, up to the limit`, async (t) => {
    const url = await serveHttp(t, (request, response) => {
      response.setHeader("content-encoding", encoding);
      response.end(pack(request.url === "/bomb" ? Buffer.alloc(50_000_000) : "hello"));
    });
    const transport = openTransport(t);
    const small = await transport.send(toolOf({ url }), {}, attempt, never);
    assert.deepEqual([small.body.toString(), small.truncated], ["hello", false]);
    const bomb = await transport.send(toolOf({ url: `${url}/bomb` }), {}, attempt, never);
    assert.deepEqual([bomb.body.length, bomb.truncated], [1024 * 1024, true]);
  });
}

test("a body that is not what its encoding says is a broken answer", async (t) => {
  const url = await serveHttp(t, (_, response) => {
    response.setHeader("content-encoding", "gzip");
    response.end("plain");
  });
  const sent = openTransport(t).send(toolOf({ url }), {}, attempt, never);
  await assert.rejects(sent, { name: "ToolFailure", kind: "interrupted" });
});

test("a bad argument or definition is an invalid request and nothing is sent", async (t) => {
  let requests = 0;
  const url = await serveHttp(t, (_, response) => {
    requests++;
    response.end();
  });
  const transport = openTransport(t);
  const faults = [
    { url: `${url}/{id}` },
    { url, headers: { a: `\${secret:GONE}` } },
    { url, headers: { "bad name": "x" } },
    { url: "http://169.254.169.254/" },
    { url: "ftp://127.0.0.1/" },
  ];
  for (const http of faults) {
    await assert.rejects(transport.send(toolOf(http), {}, attempt, never), { kind: "invalid_request" });
  }
  assert.equal(requests, 0);
});
