/**
 * How fast the incremental JSON parser is, on 1 MiB of tool arguments in fragments of 4 characters.
 *
 * Run by hand: `node test/bench/json-parser.bench.ts`. For each shape of arguments it prints, from one run on one machine, the
 * time of the parser
 *
 * - as a multiple of copying all fragments together and calling `JSON.parse` once, and of that `JSON.parse` alone;
 * - as a part of that of parsing all that has come again at every fragment: extrapolated from prefixes of lengths spread evenly,
 *   given to `JSON.parse`, which stops at the cut;
 * - as a part of that of `@streamparser/json`, told to keep only the value of the root.
 */
import { performance } from "node:perf_hooks";
import { JSONParser } from "@streamparser/json";
import { JsonParser } from "../../src/core/json/parser.ts";

const LENGTH = 1_048_576;
const FRAGMENT = 4;
const ROUNDS = 25;

/** Text that `make` gives for counting numbers, as an array, filled up to just under `LENGTH`. */
function fill(make: (index: number) => unknown): string {
  const items: string[] = [];
  for (let index = 0, size = 2; ; index++) {
    const item = JSON.stringify(make(index));
    size += item.length + 1;
    if (size > LENGTH) return `[${items.join(",")}]`;
    items.push(item);
  }
}

const record = (index: number) => ({
  id: index,
  name: `Customer number ${index}`,
  price: index * 1.25,
  active: index % 2 === 0,
  note: null,
  tags: ["new", "export"],
  address: { city: "Graz", street: `Main street ${index % 97}`, zip: "8010" },
});

const line = "  if (value === undefined) return 'nothing'; // goes on here\n";
const SHAPES: Readonly<Record<string, string>> = {
  records: fill(record),
  numbers: fill((index) => (index % 3 === 0 ? index / 7 : index * 31)),
  "one string, no escapes": JSON.stringify({ text: "word ".repeat(LENGTH / 5 - 4) }),
  "one string of code": JSON.stringify({ code: line.repeat(LENGTH / (line.length + 2)) }),
};

/** The lowest time, in milliseconds, that each kind of work takes; they take turns, so that a busy moment hits all of them. */
function lowestTimes(...works: (() => void)[]): number[] {
  const lowest = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    works.forEach((work, index) => {
      const start = performance.now();
      work();
      lowest[index] = Math.min(lowest[index] ?? 0, performance.now() - start);
    });
  }
  return lowest;
}

/** Fragments as a stream gives them: each a string of its own. */
function cut(text: string): string[] {
  const fragments: string[] = [];
  for (let at = 0; at < text.length; at += FRAGMENT) fragments.push(text.slice(at, at + FRAGMENT));
  return fragments;
}

function gather(fragments: readonly string[]): string {
  let text = "";
  for (const fragment of fragments) text += fragment;
  return text;
}

function parseInPieces(fragments: readonly string[]): void {
  const parser = new JsonParser();
  for (const fragment of fragments) parser.push(fragment);
  parser.end();
  if (parser.status !== "complete") throw new Error(JSON.stringify(parser.error));
}

function parseWithStreamparser(fragments: readonly string[]): void {
  let isWhole = false;
  const parser = new JSONParser({ paths: ["$"] });
  parser.onValue = () => {
    isWhole = true;
  };
  for (const fragment of fragments) parser.write(fragment);
  if (!isWhole) throw new Error("the text is not read to its end");
}

/** The time to parse every prefix anew: that of 16 prefixes, evenly spread, times the number of fragments per sample. */
function reparse(text: string, count: number): number {
  const samples = 16;
  let total = 0;
  for (let sample = 1; sample <= samples; sample++) {
    const prefix = text.slice(0, (text.length * sample) / samples);
    const start = performance.now();
    try {
      JSON.parse(prefix);
    } catch {
      // A prefix is not JSON; only the time to find that out counts.
    }
    total += performance.now() - start;
  }
  return (total * count) / samples;
}

for (const [name, text] of Object.entries(SHAPES)) {
  const fragments = cut(text);
  const [whole = 0, gathered = 0, pieces = 0, other = 0] = lowestTimes(
    () => JSON.parse(text),
    () => JSON.parse(gather(fragments)),
    () => parseInPieces(fragments),
    () => parseWithStreamparser(fragments),
  );
  const again = reparse(text, fragments.length);
  console.log(
    `${name} (${text.length} characters, ${fragments.length} fragments): ${pieces.toFixed(1)} ms\n` +
      `  / copying + JSON.parse (${gathered.toFixed(1)} ms): ${(pieces / gathered).toFixed(2)}` +
      `; / JSON.parse (${whole.toFixed(1)} ms): ${(pieces / whole).toFixed(2)}\n` +
      `  / parsing again per fragment (${(again / 1000).toFixed(0)} s, extrapolated): ${(pieces / again).toFixed(6)}\n` +
      `  / @streamparser/json (${other.toFixed(1)} ms): ${(pieces / other).toFixed(3)}`,
  );
}
