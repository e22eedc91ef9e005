import assert from "node:assert/strict";
import { test } from "node:test";
import { type ErrorCode, GatewayError, type GatewayErrorOptions } from "../../src/errors.ts";
import { createEdge } from "./edge.ts";

/** A server whose one route throws what it is given. */
function throwing(error: () => unknown) {
  const edge = createEdge();
  edge.app.get("/throw", { config: { access: "public" } }, () => {
    throw error();
  });
  return edge;
}

const answerTo = (code: ErrorCode, options: GatewayErrorOptions = {}) =>
  throwing(() => new GatewayError(code, "text", options)).app.inject("/throw");

test("an error leaves as the envelope, with request id and no-store", async () => {
  const answer = await answerTo("invalid_value", { param: "messages[0]" });
  assert.equal(answer.statusCode, 400);
  assert.deepEqual(answer.json(), {
    error: { message: "text", type: "invalid_request_error", param: "messages[0]", code: "invalid_value" },
  });
  assert.equal(answer.headers["content-type"], "application/json; charset=utf-8");
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.match(String(answer.headers["x-request-id"]), /^[\w-]{36}$/);
});

test("what is no GatewayError is a constant 500, and its detail goes to onError alone", async () => {
  const { app, errors } = createEdge();
  const answer = await app.inject("/broken");
  assert.equal(answer.statusCode, 500);
  assert.equal(answer.json().error.code, "internal_error");
  assert.doesNotMatch(answer.body + JSON.stringify(answer.headers), /secret/);
  assert.equal(answer.headers["x-should-retry"], undefined);
  assert.match(String(errors[0]), /secret detail/);
});

test("something thrown that is no Error is a 500 too", async () => {
  const { app, errors } = throwing(() => "text");
  assert.equal((await app.inject("/throw")).statusCode, 500);
  assert.equal(errors.length, 1);
});

const ADVICE: readonly (readonly [ErrorCode, string | undefined])[] = [
  ["bad_request", "false"],
  ["insufficient_scope", "false"],
  ["tool_exists", "false"],
  ["request_timeout", undefined],
  ["rate_limit_exceeded", "true"],
  ["upstream_unavailable", undefined],
  ["store_unavailable", "true"],
  ["upstream_timeout", undefined],
];

test("x-should-retry follows the status", async () => {
  for (const [code, advice] of ADVICE) {
    assert.equal((await answerTo(code)).headers["x-should-retry"], advice, code);
  }
});

test("the headers of an error win over the general advice", async () => {
  const answer = await answerTo("store_unavailable", { headers: { "x-should-retry": "false" } });
  assert.equal(answer.headers["x-should-retry"], "false");
});

test("retry-after stays between 1 and 60 s, and a longer wait is not worth a retry", async () => {
  const waits = [
    ["0", "1", "true"],
    ["7", "7", "true"],
    ["60", "60", "true"],
    ["61", "60", "false"],
    ["x", "1", "true"],
  ];
  for (const [given = "", sent, advice] of waits) {
    const { headers } = await answerTo("rate_limit_exceeded", { headers: { "retry-after": given } });
    assert.deepEqual([headers["retry-after"], headers["x-should-retry"]], [sent, advice], given);
  }
});

test("an upstream's status, code and retry-after are kept", async () => {
  const answer = await answerTo("upstream_error", {
    upstream: { status: 429, type: "tokens", code: "slow_down" },
    headers: { "retry-after": "120" },
  });
  assert.equal(answer.statusCode, 429);
  assert.equal(answer.json().error.code, "slow_down");
  assert.equal(answer.headers["retry-after"], "120");
  assert.equal(answer.headers["x-should-retry"], undefined);
});

test("a route schema refuses without changing the request", async () => {
  const { app } = createEdge();
  const properties = { count: { type: "integer" } };
  const schema = { querystring: { type: "object", properties, additionalProperties: false } };
  app.get("/checked", { schema, config: { access: "public" } }, () => "ok");
  const answer = await app.inject("/checked?count=1");
  assert.equal(answer.statusCode, 400);
  assert.deepEqual([answer.json().error.code, answer.json().error.param], ["invalid_value", "count"]);
});

test("after the head of an answer a failure cuts the connection", async () => {
  const { app } = createEdge();
  app.get("/late", { config: { access: "public" } }, (_request, reply) => {
    reply.raw.writeHead(200, { "content-length": 10 });
    reply.raw.write("half");
    throw new GatewayError("upstream_stream_interrupted", "text");
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  await assert.rejects(async () => (await fetch(`http://127.0.0.1:${port}/late`)).text());
  await app.close();
});
