import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { cutAt, type Dispatched, dispatched, readAll, singly } from "./sse-reading.ts";

const FILE = new URL("../../../shared/data/sse/sse_parsing.jsonl", import.meta.url);

interface Case {
  name: string;
  hex: string;
  events: Dispatched[];
  cuts?: number[];
}

const there = existsSync(FILE);
const skip = there ? false : "the shared SSE cases are not here";
const cases: Case[] = there
  ? readFileSync(FILE, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Case)
  : [];

test("the shared SSE cases are all here", { skip }, () => assert.equal(cases.length, 68));

for (const { name, hex, events, cuts = [] } of cases) {
  const bytes = Buffer.from(hex, "hex");
  const expected = events.map(({ event, data }) => ({ event, data }));
  const read = (reads: readonly Uint8Array[]) => assert.deepEqual(dispatched(readAll(reads)), expected);

  test(`${name}: the same events whole, byte by byte, cut in two anywhere and at random`, () => {
    read([bytes]);
    read(singly(bytes));
    read(cutAt(bytes, cuts));
    const step = Math.max(1, Math.floor(bytes.length / 2_000));
    for (let cut = 1; cut < bytes.length; cut += step) read(cutAt(bytes, [cut]));
    const somewhere = fc.array(fc.nat(Math.max(1, bytes.length)), { maxLength: 20 });
    fc.assert(
      fc.property(somewhere, (at) => read(cutAt(bytes, at))),
      { numRuns: 50 },
    );
  });
}
