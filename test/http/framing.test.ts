import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT, chat, createEdge } from "./edge.ts";
import { exchange, listen } from "./raw-client.ts";

const GET = "GET /v1/models HTTP/1.1\r\nAuthorization: Bearer client-key\r\nConnection: close\r\n";

const REFUSED: readonly (readonly [name: string, request: string, status: number, code: string])[] = [
  ["a request line that ends with a bare LF", "GET /v1/models\nHost: a\r\n\r\n", 400, "bad_request"],
  ["an absolute target", `${GET.replace("/v1", "http://x/v1")}Host: 127.0.0.1\r\n\r\n`, 400, "bad_request"],
  ["two Host headers", `${GET}Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n`, 400, "bad_request"],
  ["a Host with user info", `${GET}Host: 127.0.0.1@evil.example\r\n\r\n`, 400, "bad_request"],
  ["a Host with a path", `${GET}Host: 127.0.0.1/x\r\n\r\n`, 400, "bad_request"],
  ["two credentials", `${GET}Host: a\r\nAuthorization: Bearer b\r\n\r\n`, 400, "bad_request"],
  ["a header without a colon", `${GET}Host: a\r\nbroken\r\n\r\n`, 400, "bad_request"],
  ["a target over 8 KiB", `GET /${"a".repeat(8192)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414, "uri_too_long"],
  ["more than 100 headers", `${GET}Host: a\r\n${"x: 1\r\n".repeat(101)}\r\n`, 431, "headers_too_large"],
  ["headers over 16 KiB", `${GET}X: ${"a".repeat(17_000)}\r\n\r\n`, 431, "headers_too_large"],
  ["an unknown expectation", chat(CHAT, "Expect: 200-maybe"), 417, "expectation_failed"],
];

test("what two readers could take differently, or what is too large, is refused in the error envelope", async (t) => {
  const port = await listen(createEdge().app, t);
  for (const [name, request, status, code] of REFUSED) {
    const answer = await exchange(port, request);
    assert.equal(answer.status, status, name);
    assert.equal(answer.json().error.code, code, name);
    assert.equal(answer.answers, 1, name);
    assert.match(answer.text, /\r\nconnection: close\r\n/i, name);
    assert.match(answer.text, /\r\nx-request-id: [\w-]{36}\r\n/, name);
    assert.match(answer.text, /\r\ncontent-type: application\/json/, name);
    assert.match(answer.text, /\r\nx-should-retry: false\r\n/, name);
  }
});

test("a second request behind the body is a request of its own", async (t) => {
  const port = await listen(createEdge().app, t);
  const hidden = "DELETE /tools/get_weather HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const { text } = await exchange(port, chat("{}") + hidden);
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 400", "HTTP/1.1 401"]);
});

test("an offer to upgrade is ignored", async (t) => {
  const port = await listen(createEdge().app, t);
  const offer = ["Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQ"];
  const answer = await exchange(port, chat(CHAT, ...offer));
  assert.equal(answer.status, 200);
});

test("an HTTP/1.0 client gets an answer without chunks", async (t) => {
  const port = await listen(createEdge().app, t);
  const answer = await exchange(port, chat(CHAT).replace("HTTP/1.1", "HTTP/1.0"));
  assert.equal(answer.status, 200);
  assert.doesNotMatch(answer.text, /transfer-encoding/i);
});

test("100-continue is sent when the body may come, and a body that is too large is refused before it is sent", async (t) => {
  const port = await listen(createEdge(undefined, { bodyBytes: 1_000 }).app, t);
  const small = await exchange(port, chat(CHAT, "Expect: 100-continue", "Connection: close"));
  assert.deepEqual(small.text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 100", "HTTP/1.1 200"]);

  const head = chat("", "Expect: 100-continue").replace("Content-Length: 0", "Content-Length: 5000000000");
  const large = await exchange(port, head, (text) => text.endsWith("}}"));
  assert.equal(large.status, 413);
  assert.equal(large.answers, 1);

  const denied = await exchange(port, head.replace("client-key", "wrong"), (text) => text.endsWith("}}"));
  assert.equal(denied.status, 401);
});

test("a parse error in the midst of an answer cuts the answer instead of adding to it", async (t) => {
  const { app } = createEdge();
  app.get("/slow", { config: { access: "public" } }, (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { "content-type": "text/plain" });
    reply.raw.write("begun");
  });
  const port = await listen(app, t);
  const answer = await exchange(
    port,
    "GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    () => false,
    (socket) => {
      socket.once("data", () => socket.write("\x16\x03\x01 garbage\r\n\r\n"));
    },
  );
  assert.equal(answer.answers, 1);
  assert.match(answer.text, /begun\r\n$/);
});
