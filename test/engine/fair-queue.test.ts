import assert from "node:assert/strict";
import { test } from "node:test";
import { FairQueue } from "../../src/engine/fair-queue.ts";

test("names take turns, and within a name the first comes first", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.add(item.slice(0, 1), item);
  assert.equal(queue.size, 6);
  const turns = Array.from({ length: 7 }, () => queue.next());
  assert.deepEqual(turns, ["a1", "b1", "c1", "a2", "b2", "a3", undefined]);
  assert.equal(queue.size, 0);
});

test("whoever leaves has no turn, and leaving twice changes nothing", () => {
  const queue = new FairQueue<string>();
  for (const item of ["a1", "a2", "b1"]) queue.add(item.slice(0, 1), item);
  queue.remove("a", "a1");
  queue.remove("a", "a1");
  queue.remove("b", "b1");
  queue.remove("x", "x1");
  assert.deepEqual([queue.size, queue.next(), queue.next(), queue.size], [1, "a2", undefined, 0]);
});
