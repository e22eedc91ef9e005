import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, send, stream } from "./support/client.ts";
import type { Gateway } from "./support/gateway.ts";
import { streamed } from "./support/upstream.ts";
import { ANSWERS, ASKS, startWorld } from "./support/world.ts";

const get = (gateway: Gateway, path: string) => send(gateway, path, undefined, {}, "GET");

test("a trace that the client began goes on to the upstream and the tool", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  await stream(gateway, ask("m"), { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
  const sent = [...upstream.requests, ...tools.requests].map(({ headers }) => String(headers["traceparent"]));
  assert.equal(sent.length, 3);
  for (const traceparent of sent) assert.match(traceparent, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
});

test("without a trace of the client's, one begins, the same for upstream and tool", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  await stream(gateway, ask("m"), { traceparent: "garbage" });
  const sent = [...upstream.requests, ...tools.requests].map(({ headers }) => String(headers["traceparent"]));
  for (const traceparent of sent) assert.match(traceparent, /^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/);
  assert.equal(new Set(sent.map((traceparent) => traceparent.slice(3, 35))).size, 1);
});

test("a tool server gets the names of the run, the call, the session and the user", async (t) => {
  const { upstream, tools, gateway } = await startWorld(t);
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  const seen = await stream(gateway, ask("m", { user: "u-7" }), { "x-toolweir-session": "s-7" });
  const headers = tools.requests[0]?.headers ?? {};
  const run = seen.headers.get("x-toolweir-run-id");
  assert.equal(headers["x-toolweir-run-id"], run);
  assert.equal(headers["x-toolweir-call-id"], "call_get_weather_0");
  assert.equal(headers["x-toolweir-session"], "s-7");
  assert.equal(headers["x-toolweir-user"], "u-7");
  assert.ok(headers["idempotency-key"]);
});

test("/metrics counts the run, its rounds and its tool calls", async (t) => {
  const { upstream, gateway } = await startWorld(t);
  upstream.script("m", [streamed(ASKS), streamed(ANSWERS)]);
  await stream(gateway, ask("m"));
  const text = await (await get(gateway, "/metrics")).text();
  const lines = text.split("\n").filter((line) => line.startsWith("toolweir_"));
  for (const line of [
    'toolweir_runs_total{stop_reason="completed"} 1',
    'toolweir_rounds_total{protocol="native"} 2',
    'toolweir_tool_calls_total{tool="get_weather",outcome="ok"} 1',
    'toolweir_gate_verdicts_total{tool="get_weather",gate="schema",verdict="pass",problem="none"} 1',
    "toolweir_time_to_first_token_seconds_count 1",
    "toolweir_open_runs 0",
  ]) {
    assert.ok(lines.includes(line), `${line} is not in ${lines.join(", ")}`);
  }
});

test("health, readiness and the API document answer; a retiring gateway is not ready", async (t) => {
  const { gateway } = await startWorld(t, []);
  assert.equal((await get(gateway, "/healthz")).status, 200);
  assert.equal((await get(gateway, "/readyz")).status, 200);
  const document = (await (await get(gateway, "/openapi.json")).json()) as { openapi: string; paths: object };
  assert.match(document.openapi, /^3\./);
  assert.ok("/v1/chat/completions" in document.paths);
  gateway.app.retire();
  assert.equal((await get(gateway, "/readyz")).status, 503);
  assert.equal((await get(gateway, "/healthz")).status, 200);
});

test("an unknown address is 404 with the error envelope and a request id", async (t) => {
  const { gateway } = await startWorld(t, []);
  const response = await get(gateway, "/nothing/here");
  assert.equal(response.status, 404);
  assert.ok(response.headers.get("x-request-id"));
  const { error } = (await response.json()) as { error: { type: string } };
  assert.equal(error.type, "not_found_error");
});
