import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Load, type LoadSample, LoadWatch } from "../src/load-watch.ts";

/** What the watch says after each of these looks. */
function looks(...samples: LoadSample[]): Load[] {
  const seen: Load[] = [];
  const watch = new LoadWatch({
    memoryBytes: undefined,
    loopDelayMs: 500,
    onLook: (load) => seen.push(load),
    sample: () => samples[seen.length] ?? { memory: 0, loopDelayMs: 0 },
  });
  for (const _ of samples) watch.look();
  watch.close();
  return seen;
}

const memory = (share: number): LoadSample => ({ memory: share, loopDelayMs: 1 });
const late = (ms: number): LoadSample => ({ memory: 0.1, loopDelayMs: ms });

test("each step of memory has its load, and cutting goes on until there is room", () => {
  assert.deepEqual(looks(...[0.5, 0.75, 0.85, 0.95, 0.92, 0.89, 0.5].map(memory)), [
    "normal",
    "tight",
    "shedding",
    "cutting",
    "cutting",
    "shedding",
    "normal",
  ]);
});

test("one pause is not load, delay that goes on is, until it is over", () => {
  assert.deepEqual(looks(late(2_000), late(1), late(600), late(600), late(600), late(1)), [
    "normal",
    "normal",
    "normal",
    "shedding",
    "shedding",
    "normal",
  ]);
});

test("the process itself is looked at by the clock", async () => {
  const seen: Load[] = [];
  const options = { memoryBytes: 1_048_576, loopDelayMs: 60_000 };
  const watch = new LoadWatch({ ...options, onLook: (load) => seen.push(load) });
  while (seen.length < 2) await delay(20);
  watch.close();
  // A megabyte is not enough for any process.
  assert.deepEqual(seen.slice(0, 2), ["cutting", "cutting"]);
});
