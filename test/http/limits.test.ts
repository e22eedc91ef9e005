import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT, chat, createEdge } from "./edge.ts";
import { exchange, listen } from "./raw-client.ts";

const SHORT = { headers: 300, request: 600, check: 50 };

test("headers that come too slowly end in 408", async (t) => {
  const port = await listen(createEdge(undefined, SHORT).app, t);
  const answer = await exchange(port, "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ");
  assert.equal(answer.status, 408);
  assert.equal(answer.json().error.code, "request_timeout");
  assert.doesNotMatch(answer.text, /x-should-retry/);
  assert.ok(answer.ms < 10_000);
});

test("a connection that never says anything is closed", async (t) => {
  const port = await listen(createEdge(undefined, SHORT).app, t);
  assert.ok((await exchange(port, "")).ms < 10_000);
});

test("a body that never comes ends in 408", async (t) => {
  const port = await listen(createEdge(undefined, SHORT).app, t);
  const answer = await exchange(port, chat("").replace("Content-Length: 0", "Content-Length: 50"));
  assert.equal(answer.status, 408);
});

test("the limits on receiving do not cut a long answer", async (t) => {
  const { app } = createEdge(undefined, SHORT);
  app.get("/slow", { config: { access: "public" } }, (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200);
    reply.raw.write("begun,");
    setTimeout(() => reply.raw.end("ended"), 1_500);
  });
  const port = await listen(app, t);
  const answer = await exchange(port, "GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  assert.match(answer.text, /begun,[\s\S]*ended/);
});

test("a plain socket client that sends everything first still reads the 413", async (t) => {
  const port = await listen(createEdge(undefined, { bodyBytes: 100_000 }).app, t);
  const body = `{"x":"${"y".repeat(4_000_000)}"}`;
  const announced = await exchange(port, chat(body));
  assert.equal(announced.status, 413);
  assert.equal(announced.json().error.code, "request_too_large");
  assert.match(announced.text, /connection: close/i);

  const head = chat("").replace("Content-Length: 0", "Transfer-Encoding: chunked");
  const chunked = await exchange(port, `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  assert.equal(chunked.status, 413);
});

test("a client that never stops sending is cut off after the 413", async (t) => {
  const port = await listen(createEdge(undefined, { bodyBytes: 1_000 }).app, t);
  const head = chat("").replace("Content-Length: 0", "Content-Length: 99999999");
  const answer = await exchange(port, head);
  assert.equal(answer.status, 413);
  assert.ok(answer.ms >= 1_500 && answer.ms < 15_000, `closed after ${answer.ms} ms`);
});

test("a refused request whose body arrived whole keeps its connection", async (t) => {
  const port = await listen(createEdge().app, t);
  const last = chat(CHAT, "Connection: close");
  const answer = await exchange(port, chat("{broken") + last);
  assert.deepEqual(answer.text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 400", "HTTP/1.1 200"]);
});

test("while the server closes, new requests get 503 and health still answers", async () => {
  const { app } = createEdge();
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer client-key\r\n\r\n`;
  const statuses: number[] = [];
  app.addHook("preClose", async () => {
    const { port } = app.server.address() as { port: number };
    const refused = await exchange(port, get("/v1/models"));
    assert.equal(refused.json().error.code, "shutting_down");
    assert.match(refused.text, /retry-after: 1\r\n/);
    assert.match(refused.text, /x-should-retry: true\r\n/);
    statuses.push(refused.status, (await exchange(port, get("/healthz"))).status);
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  await app.close();
  assert.deepEqual(statuses, [503, 200]);
});

test("closing waits for an open answer and not for an idle connection", async () => {
  const { app } = createEdge();
  let finish = () => {};
  const asked = new Promise<void>((resolve) => {
    app.get("/slow", { config: { access: "public" } }, (_request, reply) => {
      finish = () => void reply.send("done");
      resolve();
    });
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  const answer = exchange(port, "GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  await asked;
  const began = performance.now();
  const closed = app.close();
  setTimeout(finish, 100);
  await closed;
  assert.match((await answer).text, /done$/);
  assert.ok(performance.now() - began < 10_000);
});
