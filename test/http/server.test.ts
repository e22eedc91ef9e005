import assert from "node:assert/strict";
import { test } from "node:test";
import { createEdge } from "./edge.ts";

const admin = { authorization: "Bearer admin-key" };

test("a plain request id of the client is kept, any other is replaced", async () => {
  const { app } = createEdge();
  const idFor = async (id: string) =>
    (await app.inject({ url: "/healthz", headers: { "x-request-id": id } })).headers["x-request-id"];
  assert.equal(await idFor("Run.1_a-b"), "Run.1_a-b");
  assert.equal(await idFor("x".repeat(128)), "x".repeat(128));
  for (const id of ["", "x".repeat(129), 'a","level":60', "a b", "a\u0001b"]) {
    assert.match(String(await idFor(id)), /^req_[0-9a-f]{32}$/, id);
  }
});

test("JSON answers are not to be stored", async () => {
  const answer = await createEdge().app.inject("/healthz");
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.match(String(answer.headers["content-type"]), /^application\/json/);
});

test("an unknown path is 404 and a known path with another method 405 with allow", async () => {
  const { app } = createEdge();
  for (const url of ["/nothing", "/tools/a/b", "/V1/models", "/.env", "/"]) {
    const answer = await app.inject({ url, headers: admin });
    assert.equal(answer.statusCode, 404, url);
    assert.equal(answer.json().error.code, "unknown_url", url);
  }
  const allowed = [
    ["POST", "/healthz", "GET, HEAD"],
    ["PUT", "/tools?x=1", "GET, HEAD, POST"],
    ["PATCH", "/tools/a", "DELETE, GET, HEAD"],
    ["TRACE", "/v1/models", "GET, HEAD"],
    ["HEAD", "/v1/chat/completions", "POST"],
  ];
  for (const [method, url, allow] of allowed) {
    const answer = await app.inject({ method: method as "GET", url: url ?? "" });
    assert.equal(answer.statusCode, 405, url);
    assert.equal(answer.headers["allow"], allow, url);
  }
});

test("the method is what the request line says", async () => {
  const answer = await createEdge().app.inject({
    method: "POST",
    url: "/tools/a",
    headers: { ...admin, "x-http-method-override": "DELETE", "content-type": "application/json" },
    payload: "{}",
  });
  assert.equal(answer.statusCode, 405);
});

test("a path that cannot be decoded is 400 in the envelope", async () => {
  for (const url of ["/tools/%zz", "/tools/%c0%ae"]) {
    const answer = await createEdge().app.inject({ url, headers: admin });
    assert.equal(answer.statusCode, 400, url);
    assert.equal(answer.json().error.code, "bad_request", url);
    assert.ok(answer.headers["x-request-id"]);
  }
});

test("encoded dots and slashes stay inside their parameter, and long names are just not found", async () => {
  for (const name of ["..%2f..%2fmetrics", "%252e%252e", "a".repeat(2_000)]) {
    const answer = await createEdge().app.inject({ url: `/tools/${name}`, headers: admin });
    assert.equal(answer.json().error.code, "tool_not_found", name);
  }
});
