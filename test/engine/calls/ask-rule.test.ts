import assert from "node:assert/strict";
import { test } from "node:test";
import { askRule } from "../../../src/engine/calls/ask-rule.ts";
import { ToolFailure, type ToolReply, type ToolTransport } from "../../../src/engine/ports/tools.ts";
import { toolNamed, toolReply } from "../../support/engine.ts";

const FACTS = { now: 0, sessionId: "s1", caller: { name: "app", level: "write" } };
const ATTEMPT = {
  runId: "r",
  callId: "c",
  sessionId: "s1",
  user: undefined,
  idempotencyKey: "r:c",
  traceparent: "",
};

function ask(send: ToolTransport["send"], rule: object = {}) {
  const { definition } = toolNamed("book", { level: "write", timeout_ms: 90_000 });
  const question = { tool: definition, args: { city: "Oslo", id: 12345678901234567890n }, facts: FACTS };
  const { signal } = new AbortController();
  return askRule({ send }, { url: "https://rules.example/check", ...rule }, question, ATTEMPT, signal);
}

test("one POST tells the service the tool, the arguments, the session and the caller", async () => {
  const sent: Parameters<ToolTransport["send"]>[] = [];
  const answer = await ask(
    async (...of) => {
      sent.push(of);
      return toolReply({ ok: true });
    },
    { headers: { "x-key": "k" } },
  );
  assert.deepEqual(answer, { ok: true });
  const [[tool, body, attempt] = []] = sent;
  assert.deepEqual(tool?.http, {
    method: "POST",
    url: "https://rules.example/check",
    query: {},
    headers: { "x-key": "k" },
    body: "json",
  });
  assert.deepEqual([tool?.level, tool?.timeout_ms], ["read", 2_000]);
  const idempotencyKey = "r:c:https://rules.example/check";
  assert.deepEqual(
    attempt,
    { ...ATTEMPT, idempotencyKey },
    "the call of the tool is no repetition of the question",
  );
  assert.deepEqual(body, {
    tool: "book",
    arguments: { city: "Oslo", id: 12345678901234567890n },
    session: { id: "s1" },
    caller: { name: "app", level: "write" },
  });
});

const said = (value: unknown, change: Partial<ToolReply> = {}) => ask(async () => toolReply(value, change));

test("a no comes with what the service says", async () => {
  assert.deepEqual(await said({ ok: false, message: "Full." }), { ok: false, message: "Full." });
  assert.deepEqual(await said({ ok: false }), { ok: false, message: undefined });
});

test("anything else is no answer, never a yes", async () => {
  for (const value of [{}, { ok: "true" }, { ok: 1 }, [], null, "ok", true]) {
    assert.equal(await said(value), undefined, JSON.stringify(value));
  }
  for (const change of [
    { status: 500 },
    { status: 302 },
    { truncated: true },
    { body: Buffer.from("{") },
    { body: Buffer.from("") },
  ]) {
    assert.equal(await said({ ok: true }, change), undefined);
  }
});

test("a service that is not reached or not in time has not answered", async () => {
  for (const kind of ["timeout", "unreachable", "interrupted", "invalid_request", "cancelled"] as const) {
    const answer = ask(async () => {
      throw new ToolFailure(kind, "x");
    });
    assert.equal(await answer, undefined);
  }
});
