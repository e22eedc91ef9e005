import assert from "node:assert/strict";
import { test } from "node:test";
import { runAttempts } from "../../../src/engine/calls/attempt.ts";
import { RetryBudget } from "../../../src/engine/calls/retry-budget.ts";
import { ToolHealth } from "../../../src/engine/calls/tool-health.ts";
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
  return { clock, opened, call, tool, sent: () => sent };
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
