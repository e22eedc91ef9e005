import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { request } from "undici";
import { exchange, portOf } from "../raw-client.ts";
import { startGateway, startUpstream } from "./pass.ts";

const POST = "POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/octet-stream\r\n";

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = portOf(server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("an upstream that cannot be reached is 502, also while a body is being sent", async (t) => {
  const port = await startGateway(t, await closedPort());
  const read = await request(`http://127.0.0.1:${port}/v1/models`);
  assert.equal(read.statusCode, 502);
  assert.equal(((await read.body.json()) as { error: { code: string } }).error.code, "upstream_unavailable");
  const upload = await request(`http://127.0.0.1:${port}/v1/files`, {
    method: "POST",
    body: Buffer.alloc(2_000_000),
  });
  assert.equal(upload.statusCode, 502);
  await upload.body.dump();
});

test("an upstream that does not answer in time is 504", async (t) => {
  const upstream = await startUpstream(t, () => {});
  const timeouts = { connect: 1_000, first_byte: 300, idle: 1_000 };
  const port = await startGateway(t, upstream, { timeouts });
  const answer = await request(`http://127.0.0.1:${port}/v1/models`);
  assert.equal(answer.statusCode, 504);
  assert.equal(((await answer.body.json()) as { error: { code: string } }).error.code, "upstream_timeout");
});

test("a body over the bound is 413, announced or not, and readable for a plain client", async (t) => {
  const upstream = await startUpstream(t, (incoming, response) => {
    incoming.resume().on("end", () => response.end());
  });
  const port = await startGateway(t, upstream, { maxBodyBytes: 100_000 });
  const announced = await exchange(port, `${POST}Content-Length: 3000000\r\n\r\n${"x".repeat(3_000_000)}`);
  assert.equal(announced.status, 413);
  const chunk = "x".repeat(0x100000);
  const chunked = await exchange(
    port,
    `${POST}Transfer-Encoding: chunked\r\n\r\n100000\r\n${chunk}\r\n100000\r\n${chunk}\r\n0\r\n\r\n`,
  );
  assert.equal(chunked.status, 413);
  assert.equal(chunked.json().error.code, "request_too_large");
});

test("an upstream that answers before it has read the body is heard", async (t) => {
  const upstream = await startUpstream(t, (_request, response) => {
    response.writeHead(422, { connection: "close" }).end("no");
  });
  const port = await startGateway(t, upstream);
  const answer = await request(`http://127.0.0.1:${port}/v1/files`, {
    method: "POST",
    body: Buffer.alloc(50_000),
  });
  assert.equal(answer.statusCode, 422);
  assert.equal(await answer.body.text(), "no");
});

test("a redirect is handed on, not followed", async (t) => {
  let calls = 0;
  const upstream = await startUpstream(t, (_request, response) => {
    calls++;
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  const port = await startGateway(t, upstream);
  const answer = await request(`http://127.0.0.1:${port}/v1/models`);
  assert.deepEqual([answer.statusCode, answer.headers["location"], calls], [302, "/elsewhere", 1]);
  await answer.body.dump();
});
