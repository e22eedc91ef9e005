import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { OpenRuns, type OpenRunsOptions } from "../../src/engine/open-runs.ts";
import { GatewayError } from "../../src/errors.ts";

function openRuns(t: TestContext, options: Partial<OpenRunsOptions> = {}): OpenRuns & { refusals(): number } {
  let refusals = 0;
  const runs = new OpenRuns({
    most: 1,
    mostPerKey: undefined,
    queue: { most: 2, ms: 50 },
    runMs: 60_000,
    keepalive: { every_ms: 15_000, as: "comment" },
    onRefused: () => refusals++,
    ...options,
  });
  t.after(() => runs.close());
  return Object.assign(runs, { refusals: () => refusals });
}

const isRefusal = (error: unknown) => {
  assert.ok(error instanceof GatewayError);
  assert.equal(error.code, "too_many_concurrent_requests");
  assert.match(error.options.headers?.["retry-after"] ?? "", /^[1-5]$/);
  return true;
};

test("who comes when all places are taken gets the next one that is free, keys in turn", async (t) => {
  const runs = openRuns(t, { queue: { most: 9, ms: 5_000 } });
  const began: string[] = [];
  const first = await runs.admit(new AbortController(), "a");
  const later = ["a", "a", "b"].map(async (key, at) => {
    const run = await runs.admit(new AbortController(), key);
    began.push(`${key}${at}`);
    runs.forget(run);
  });
  assert.equal(runs.waiting, 3);
  runs.forget(first);
  await Promise.all(later);
  assert.deepEqual(began, ["a0", "b2", "a1"]);
  await runs.idle();
});

test("a full queue refuses at once, a place that does not come in time later, and both are counted", async (t) => {
  const runs = openRuns(t);
  const open = await runs.admit(new AbortController(), "a");
  const waiting = [1, 2].map(() => runs.admit(new AbortController(), "a"));
  assert.throws(() => runs.admit(new AbortController(), "b"), isRefusal);
  for (const one of waiting) await assert.rejects(async () => one, isRefusal);
  assert.deepEqual([runs.refusals(), runs.waiting, runs.count], [3, 0, 1]);
  runs.forget(open);
  assert.equal(runs.count, 0);
});

test("a client that leaves while it waits takes nobody's place", async (t) => {
  const runs = openRuns(t, { queue: { most: 5, ms: 5_000 } });
  const open = await runs.admit(new AbortController(), "a");
  const gone = new AbortController();
  const left = runs.admit(gone, "a");
  const stays = runs.admit(new AbortController(), "b");
  gone.abort(new Error("gone"));
  await assert.rejects(async () => left, /gone/);
  runs.forget(open);
  runs.forget(await stays);
  await delay(1);
  assert.deepEqual([runs.count, runs.waiting], [0, 0]);
});

test("one key has no more than its share, whoever of it waits", async (t) => {
  const runs = openRuns(t, { most: 3, mostPerKey: 2 });
  const open = [await runs.admit(new AbortController(), "a"), await runs.admit(new AbortController(), "a")];
  assert.throws(() => runs.admit(new AbortController(), "a"), /This key has 2 runs at once/);
  const other = await runs.admit(new AbortController(), "b");
  for (const run of [...open, other]) runs.forget(run);
  runs.forget(await runs.admit(new AbortController(), "a"));
});

test("the run that holds most is given up first", async (t) => {
  const runs = openRuns(t, { most: 3 });
  const stops = [10, 30, 20].map(() => new AbortController());
  for (const [at, stop] of stops.entries()) {
    const run = await runs.admit(stop, "a");
    run.size = () => [10, 30, 20][at] ?? 0;
  }
  assert.deepEqual([runs.cutLargest(), runs.cutLargest()], [true, true]);
  assert.deepEqual(
    stops.map(({ signal }) => signal.aborted),
    [false, true, true],
  );
  assert.deepEqual([runs.cutLargest(), runs.cutLargest()], [true, false]);
});
