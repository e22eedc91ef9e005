import assert from "node:assert/strict";
import { test } from "node:test";
import { type RetryPolicy, retrying } from "../../../src/engine/calls/retry.ts";

const never = new AbortController().signal;

/** Runs a task that always fails and tells the waits. */
async function waits(policy: Partial<RetryPolicy<number>>): Promise<number[]> {
  const seen: number[] = [];
  const onRetry = (_attempt: number, delayMs: number) => seen.push(delayMs);
  const whole = { retries: 3, baseMs: 0, again: () => ({}), random: () => 0.5, onRetry, ...policy };
  assert.equal(await retrying(whole, never, async (attempt) => attempt), seen.length + 1);
  return seen;
}

test("waits double up to 5 s, with full jitter", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const running = waits({ retries: 8, baseMs: 100 });
  for (let i = 0; i < 100; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.runAll();
  }
  assert.deepEqual(await running, [50, 100, 200, 400, 800, 1600, 2500, 2500]);
});

test("a time that the other side named is kept, up to 60 s", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [afterMs, wait] of [
    [7000, 7000],
    [0, 50],
    [3_600_000, 60_000],
  ] as const) {
    const running = waits({ retries: 1, baseMs: 100, again: () => ({ afterMs }) });
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.runAll();
    assert.deepEqual(await running, [wait]);
  }
});

test("a wait that does not fit into the time left is not begun", async () => {
  assert.deepEqual(await waits({ again: () => ({ afterMs: 20 }), remainingMs: () => 20 }), []);
  assert.deepEqual(await waits({ retries: 1, remainingMs: () => 20 }), [0]);
});

test("a final result is returned at once", async () => {
  assert.deepEqual(await waits({ again: () => undefined }), []);
});

test("after an abort there is no further try, and a wait ends", async () => {
  const policy = { retries: 5, baseMs: 60_000, again: () => ({}), random: () => 0.9 };
  let tries = 0;
  const task = async () => ++tries;
  assert.equal(await retrying(policy, AbortSignal.abort(), task), 1);
  const abort = new AbortController();
  const onRetry = () => setImmediate(() => abort.abort());
  await assert.rejects(retrying({ ...policy, onRetry }, abort.signal, task), { name: "AbortError" });
  assert.equal(tries, 2);
});
