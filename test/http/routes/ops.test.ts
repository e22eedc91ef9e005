import assert from "node:assert/strict";
import { test } from "node:test";
import { opsRoutes } from "../../../src/http/routes/ops.ts";
import { createServer } from "../../../src/http/server.ts";
import { KEYED } from "../edge.ts";

function operations(ready: () => Promise<string | undefined>) {
  const app = createServer({ host: "0.0.0.0", auth: KEYED, onError: () => {} });
  const metrics = { contentType: "text/plain; version=0.0.4", render: async () => "toolweir_runs_total 1\n" };
  app.register(opsRoutes, { ready, metrics, openapi: { openapi: "3.1.0" } });
  return app;
}

test("health and readiness answer without a key", async () => {
  const app = operations(async () => undefined);
  for (const url of ["/healthz", "/readyz", "/readyz?verbose=1"]) {
    const answer = await app.inject(url);
    assert.equal(answer.statusCode, 200);
    assert.deepEqual(answer.json(), { status: "ok" });
  }
});

test("readiness is 503 with the reason, and shows nothing of a check that throws", async () => {
  const starting = await operations(async () => "the store does not answer").inject("/readyz");
  assert.equal(starting.statusCode, 503);
  assert.deepEqual(starting.json().error, {
    message: "Not ready: the store does not answer.",
    type: "api_error",
    param: null,
    code: "not_ready",
  });
  const failing = await operations(() => Promise.reject(new Error("redis://user:secret@host"))).inject(
    "/readyz",
  );
  assert.equal(failing.statusCode, 503);
  assert.doesNotMatch(failing.body, /secret/);
});

test("metrics and the API document need a key", async () => {
  const app = operations(async () => undefined);
  const headers = { authorization: "Bearer client-key" };
  for (const url of ["/metrics", "/openapi.json"]) assert.equal((await app.inject(url)).statusCode, 401);
  const metrics = await app.inject({ url: "/metrics", headers });
  assert.equal(metrics.body, "toolweir_runs_total 1\n");
  assert.equal(metrics.headers["content-type"], "text/plain; version=0.0.4");
  assert.deepEqual((await app.inject({ url: "/openapi.json", headers })).json(), { openapi: "3.1.0" });
});
