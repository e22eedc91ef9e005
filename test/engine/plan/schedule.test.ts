import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { schedule } from "../../../src/engine/plan/schedule.ts";

interface Given {
  alone?: boolean;
  needs?: readonly number[];
  ms?: number;
}

/** Runs tasks and notes what begins (+) and ends (-), and how many ran at once. */
async function trace(given: readonly Given[], limit = 8, stopAt = Number.POSITIVE_INFINITY) {
  const log: string[] = [];
  let running = 0;
  let most = 0;
  const tasks = given.map(({ alone = false, needs = [] }) => ({ alone, needs: () => needs }));
  await schedule(
    tasks,
    limit,
    async (at) => {
      log.push(`+${at}`);
      most = Math.max(most, ++running);
      await sleep(given[at]?.ms ?? 1);
      running--;
      log.push(`-${at}`);
    },
    () => log.length >= stopAt,
  );
  return { log: log.join(" "), most };
}

test("tasks run beside each other, those that are alone one after the other", async () => {
  assert.equal((await trace([{}, {}, { alone: true }, {}])).log, "+0 +1 -0 -1 +2 -2 +3 -3");
});

test("a task begins when what it needs is done, not when its neighbours are", async () => {
  const { log } = await trace([{ ms: 5 }, { ms: 60 }, { needs: [0], ms: 5 }]);
  assert.equal(log, "+0 +1 -0 +2 -2 -1");
});

test("no more than the limit run at once, earlier ones first", async () => {
  const { log, most } = await trace(
    Array.from({ length: 5 }, () => ({})),
    2,
  );
  assert.equal(most, 2);
  assert.match(log, /^\+0 \+1 .*\+4 .*-4$/);
});

test("when it is over nothing further begins, and what runs ends first", async () => {
  assert.equal((await trace([{}, {}, { needs: [0] }], 8, 2)).log, "+0 +1 -0 -1");
});

test("a rejection stops the rest and is handed on when the others have ended", async () => {
  const done: number[] = [];
  const running = schedule(
    [0, 1, 2].map((at) => ({ alone: false, needs: () => (at === 2 ? [0] : []) })),
    8,
    async (at) => {
      await sleep(at === 1 ? 20 : 1);
      if (at === 0) throw new Error("no");
      done.push(at);
    },
    () => false,
  );
  await assert.rejects(running, /no/);
  assert.deepEqual(done, [1]);
});

test("nothing to do is done at once", async () => {
  await schedule(
    [],
    1,
    async () => assert.fail(),
    () => false,
  );
});

test("five tools of 600 units, two of them dependent, take the time of the longest chain", async () => {
  const from = performance.now();
  const tasks = [{}, {}, {}, { needs: [0] }, { needs: [3] }].map((task) => ({ ...task, ms: 100 }));
  await trace(tasks);
  assert.ok(performance.now() - from < 330);
});

const anyTasks = fc
  .array(fc.record({ alone: fc.boolean(), refs: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }) }), {
    maxLength: 10,
  })
  .map((list) =>
    list.map(({ alone, refs }, at) => ({ alone, needs: refs.filter((ref) => ref < at), ms: 0 })),
  );

test("every task runs once, after what it needs and in order around those that are alone", async () => {
  await fc.assert(
    fc.asyncProperty(anyTasks, fc.integer({ min: 1, max: 4 }), async (tasks, limit) => {
      const { log, most } = await trace(tasks, limit);
      const events = log === "" ? [] : log.split(" ");
      assert.ok(most <= limit);
      assert.equal(new Set(events).size, 2 * tasks.length);
      for (const [at, { alone, needs }] of tasks.entries()) {
        const before = [...tasks.keys()].filter((one) => one < at && (alone || tasks[one]?.alone));
        for (const one of [...needs, ...before])
          assert.ok(events.indexOf(`-${one}`) < events.indexOf(`+${at}`));
      }
    }),
    { numRuns: 60 },
  );
});
