import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { TemplateError } from "../../../src/core/tool-template.ts";
import { runAttempts, type ToolErrorKind } from "../../../src/engine/calls/attempt.ts";
import { ToolHealth } from "../../../src/engine/calls/tool-health.ts";
import { ToolFailure, type ToolReply, type ToolTransport } from "../../../src/engine/ports/tools.ts";
import { attempt, toolOf } from "../../outbound/tool-fixture.ts";

type Step = number | ToolFailure | ToolReply;

const never = new AbortController().signal;
const reply = (status: number, retryAfterMs?: number): ToolReply => ({
  status,
  contentType: "",
  body: Buffer.alloc(0),
  truncated: false,
  retryAfterMs,
});

/** Answers with one step after the other and counts. */
function scripted(...steps: Step[]): ToolTransport & { keys: string[] } {
  const keys: string[] = [];
  return {
    keys,
    async send(_tool, _args, { idempotencyKey }) {
      const step = steps[keys.length] ?? 200;
      keys.push(idempotencyKey);
      if (step instanceof ToolFailure) throw step;
      return typeof step === "number" ? reply(step) : step;
    },
  };
}

/** Lets mocked timers run whenever something waits for them. */
async function finish<T>(t: TestContext, outcome: Promise<T>): Promise<T> {
  let done = false;
  const settled = outcome.finally(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.runAll();
  }
  return await settled;
}

const failure = (kind: ToolFailure["kind"], cause?: Error) => new ToolFailure(kind, "m", { cause });
const fault = (problem: "missing" | "secret") => new TemplateError(problem, "p", "m");

for (const [name, step, kind] of [
  ["200", 200, undefined],
  ["204", 204, undefined],
  ["302", 302, "permanent"],
  ["400", 400, "business"],
  ["401", 401, "permission"],
  ["403", 403, "permission"],
  ["404", 404, "business"],
  ["405", 405, "permanent"],
  ["408", 408, "transient"],
  ["409", 409, "business"],
  ["410", 410, "business"],
  ["418", 418, "permanent"],
  ["422", 422, "business"],
  ["425", 425, "transient"],
  ["429", 429, "transient"],
  ["500", 500, "transient"],
  ["599", 599, "transient"],
  ["a timeout", failure("timeout"), "timeout"],
  ["no connection", failure("unreachable"), "transient"],
  ["a broken connection", failure("interrupted"), "transient"],
  ["a cancellation", failure("cancelled"), "cancelled"],
  ["a bad argument", failure("invalid_request", fault("missing")), "argument"],
  ["a missing secret", failure("invalid_request", fault("secret")), "permanent"],
  ["a forbidden address", failure("invalid_request"), "permanent"],
] as [string, Step, ToolErrorKind | undefined][]) {
  test(`${name} is ${kind ?? "success"}; only what is transient is tried again`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const transport = scripted(step, step, step, step);
    const tool = toolOf({}, { retry: 2 });
    const outcome = await finish(
      t,
      runAttempts(tool, {}, attempt, never, { transport, health: new ToolHealth() }),
    );
    assert.equal(outcome.errorKind, kind);
    assert.equal(outcome.failure, step instanceof ToolFailure ? step : undefined);
    assert.equal(outcome.attempts, kind === "transient" ? 3 : 1);
    assert.deepEqual(transport.keys, Array(outcome.attempts).fill("key1"));
  });
}

test("a tool that recovers succeeds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const transport = scripted(503, failure("interrupted"), 200);
  const outcome = await finish(
    t,
    runAttempts(toolOf({}, { retry: 2 }), {}, attempt, never, { transport, health: new ToolHealth() }),
  );
  assert.deepEqual([outcome.reply?.status, outcome.attempts, outcome.errorKind], [200, 3, undefined]);
});

test("a write tool is tried again only if nothing was sent", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const tool = toolOf({}, { level: "write", retry: 3 });
  for (const [steps, attempts] of [
    [[503], 1],
    [[failure("interrupted")], 1],
    [[failure("unreachable"), failure("unreachable"), 200], 3],
    [[failure("unreachable"), 503], 2],
  ] as const) {
    const run = runAttempts(tool, {}, attempt, never, {
      transport: scripted(...steps),
      health: new ToolHealth(),
    });
    assert.equal((await finish(t, run)).attempts, attempts);
  }
});

test("an abort during a wait ends the call as cancelled", async () => {
  const abort = new AbortController();
  const tool = toolOf({}, { retry: 1, backoff_ms: 60_000 });
  const onRetry = () => setImmediate(() => abort.abort());
  const deps = { transport: scripted(503), health: new ToolHealth(), onRetry, random: () => 0.9 };
  const outcome = await runAttempts(tool, {}, attempt, abort.signal, deps);
  assert.deepEqual(
    [outcome.errorKind, outcome.failure?.kind, outcome.attempts],
    ["cancelled", "cancelled", 1],
  );
});

test("a fault of the gateway itself is thrown", async () => {
  const transport = { send: () => Promise.reject(new RangeError("bug")) };
  await assert.rejects(
    runAttempts(toolOf({}), {}, attempt, never, { transport, health: new ToolHealth() }),
    RangeError,
  );
});

test("retries are announced with their wait", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const seen: unknown[] = [];
  const onRetry = (...said: unknown[]) => seen.push(said);
  const transport = scripted(reply(429, 2000), 500, 200);
  const deps = { transport, health: new ToolHealth(), onRetry, random: () => 0.5 };
  await finish(t, runAttempts(toolOf({}, { retry: 2, backoff_ms: 100 }), {}, attempt, never, deps));
  assert.deepEqual(seen, [
    [2, 2000, "transient"],
    [3, 100, "transient"],
  ]);
});
