import assert from "node:assert/strict";
import { test } from "node:test";
import { runAttempts } from "../../../src/engine/calls/attempt.ts";
import { Breaker } from "../../../src/engine/calls/breaker.ts";
import { RetryBudget } from "../../../src/engine/calls/retry-budget.ts";
import { ToolHealth } from "../../../src/engine/calls/tool-health.ts";
import { ToolFailure } from "../../../src/engine/ports/tools.ts";
import { attempt, toolOf } from "../../outbound/tool-fixture.ts";

const reply = (status: number) => ({
  status,
  contentType: "application/json",
  body: Buffer.from("{}"),
  truncated: false,
  retryAfterMs: undefined,
});

/** A tool whose server answers what the test says. */
function world(status: { now: number }) {
  const clock = { ms: 1_000 };
  const opened: string[] = [];
  const health = new ToolHealth(
    (name) => opened.push(name),
    () => clock.ms,
  );
  let sent = 0;
  const transport = {
    async send() {
      sent++;
      return reply(status.now);
    },
  };
  const tool = toolOf({}, { name: "flaky", backoff_ms: 0 });
  const call = (named = tool) =>
    runAttempts(named, {}, attempt, new AbortController().signal, { transport, health, random: () => 0 });
  return { clock, opened, health, call, tool, sent: () => sent };
}

test("a tool that keeps failing is left alone, probed once a second and asked again when it is well", async () => {
  const status = { now: 500 };
  const { clock, opened, call, sent } = world(status);
  for (let n = 0; n < 40; n++) {
    clock.ms += 100;
    await call();
  }
  assert.deepEqual(opened.slice(0, 1), ["flaky"]);
  assert.ok(sent() >= 19 && sent() < 30, `${sent()}`);
  const before = sent();
  const refused = await call();
  assert.deepEqual([refused.failure?.kind, refused.errorKind, sent()], ["unavailable", "transient", before]);
  status.now = 200;
  clock.ms += 1_100;
  assert.equal((await call()).reply?.status, 200);
  assert.equal((await call()).reply?.status, 200);
});

/** A breaker that has just opened. */
function openBreaker() {
  const clock = { ms: 1_000 };
  const breaker = new Breaker(
    10_000,
    () => clock.ms,
    () => {},
  );
  const early = breaker.begin();
  for (let n = 0; n < 20; n++) breaker.begin()?.(true);
  assert.ok(breaker.isOpen);
  return { clock, breaker, early };
}

test("the success of an attempt that began before it opened closes nothing", () => {
  const { clock, breaker, early } = openBreaker();
  early?.(false);
  assert.equal(breaker.isOpen, true);
  clock.ms += 1_000;
  breaker.begin()?.(false);
  assert.equal(breaker.isOpen, false);
});

test("it opens again as fast as the first time", () => {
  const { clock, breaker } = openBreaker();
  clock.ms += 1_000;
  const probe = breaker.begin();
  assert.equal(breaker.begin(), undefined, "one a second");
  probe?.(false);
  for (let n = 0; n < 19; n++) breaker.begin()?.(true);
  assert.equal(breaker.isOpen, false);
  breaker.begin()?.(true);
  assert.equal(breaker.isOpen, true);
});

test("a request that cannot be sent says nothing about the tool: it is no success of a probe", async () => {
  const { clock, call, tool, health } = world({ now: 500 });
  for (let n = 0; n < 20; n++) await call();
  clock.ms += 1_000;
  const unsendable = {
    async send(): Promise<never> {
      throw new ToolFailure("invalid_request", "The URL is not allowed.");
    },
  };
  const { signal } = new AbortController();
  const probe = await runAttempts(tool, {}, attempt, signal, { transport: unsendable, health });
  assert.equal(probe.failure?.kind, "invalid_request");
  assert.equal(health.isLeftAlone(tool), true);
});

test("a call that is not sent has no attempts, and a retry that is not sent leaves what came before", async () => {
  const { health } = world({ now: 500 });
  const tool = toolOf({}, { retry: 2, backoff_ms: 0 });
  const one = () =>
    runAttempts(tool, {}, attempt, new AbortController().signal, {
      transport: { send: async () => reply(500) },
      health,
    });
  const outcomes = [];
  for (let n = 0; n < 12; n++) outcomes.push(await one());
  const attempts = outcomes.map((outcome) => outcome.attempts);
  assert.deepEqual(attempts, [3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 0, 0]);
  assert.equal(outcomes[9]?.reply?.status, 500);
  assert.equal(outcomes[10]?.failure?.kind, "unavailable");
});

test("a retry that would come too late takes nothing from the budget", async () => {
  const { health } = world({ now: 500 });
  const tool = toolOf({}, { retry: 1, backoff_ms: 0 });
  const late = { ...reply(500), retryAfterMs: 60_000 };
  const deps = { transport: { send: async () => late }, health, remainingMs: () => 1_000 };
  for (let n = 0; n < 15; n++) await runAttempts(tool, {}, attempt, new AbortController().signal, deps);
  for (let n = 0; n < 10; n++) assert.equal(health.mayRetry(tool), true);
  assert.equal(health.mayRetry(tool), false);
});

test("what the caller did wrong says nothing about the tool", async () => {
  const { opened, call, sent } = world({ now: 404 });
  for (let n = 0; n < 50; n++) await call();
  assert.deepEqual([opened, sent()], [[], 50]);
});

test("few failures conclude nothing, and neither do failures among as many successes and more", async () => {
  const status = { now: 500 };
  const { clock, opened, call } = world(status);
  for (let n = 0; n < 15; n++) await call();
  clock.ms += 20_000;
  for (let n = 0; n < 60; n++) {
    status.now = n % 3 === 0 ? 500 : 200;
    clock.ms += 50;
    await call();
  }
  assert.deepEqual(opened, []);
});

test("a tool that is left alone takes nobody with it, and its next version begins afresh", async () => {
  const status = { now: 500 };
  const { clock, call, tool } = world(status);
  for (let n = 0; n < 60; n++) {
    clock.ms += 50;
    await call();
  }
  assert.equal((await call()).failure?.kind, "unavailable");
  assert.equal((await call({ ...tool, name: "other" })).reply?.status, 500);
  assert.equal((await call({ ...tool })).reply?.status, 500);
});

test("many that fail together retry a fifth of their calls at the most", async () => {
  const health = new ToolHealth();
  let sent = 0;
  const transport = {
    async send() {
      sent++;
      // Failures that no breaker counts, to see the budget alone: every other one succeeds.
      return reply(sent % 3 === 0 ? 503 : 200);
    },
  };
  const tool = toolOf({}, { retry: 5, backoff_ms: 0 });
  const calls = Array.from({ length: 200 }, () =>
    runAttempts(tool, {}, attempt, new AbortController().signal, { transport, health }),
  );
  await Promise.all(calls);
  assert.ok(sent > 200 && sent <= 240, `${sent}`);
});

test("a budget is a fifth of the calls of a sliding window, and ten", () => {
  const clock = { ms: 5_000 };
  const budget = new RetryBudget(10_000, () => clock.ms);
  const takeAll = () => {
    let taken = 0;
    while (budget.take()) taken++;
    return taken;
  };
  assert.equal(takeAll(), 10);
  for (let n = 0; n < 100; n++) budget.called();
  assert.equal(takeAll(), 10);
  clock.ms += 5_000;
  for (let n = 0; n < 100; n++) budget.called();
  assert.equal(takeAll(), 20);
  clock.ms += 5_001;
  assert.equal(takeAll(), 0, "20 of the last window count, and a fifth of its 100 calls are 20");
  clock.ms += 100_000;
  assert.equal(takeAll(), 10);
});
