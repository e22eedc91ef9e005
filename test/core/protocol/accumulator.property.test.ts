import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { OpenCall } from "../../../src/core/protocol/accumulator.ts";
import type { ToolFragment } from "../../../src/core/protocol/adapter.ts";
import type { CallPiece } from "../../support/chunks.ts";
import { brief, gather, newAccumulator } from "./gather.ts";

type Piece = CallPiece;

/** One call of a reply and the pieces in which it comes. */
interface Plan {
  index: number;
  id: string;
  name: string;
  args: string;
  pieces: Piece[];
}

function piecesOf(index: number, id: string, name: string, args: string, cuts: readonly number[]): Piece[] {
  const ends = [...new Set(cuts)].filter((cut) => cut > 0 && cut < args.length).sort((a, b) => a - b);
  const texts = [0, ...ends].map((from, place) => args.slice(from, ends[place] ?? args.length));
  return [{ index, id, name, args: "" }, ...texts.map((text) => ({ index, args: text }))];
}

const objectText = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }))
  .map((value) => JSON.stringify(value));

const plans: fc.Arbitrary<Plan[]> = fc
  .uniqueArray(fc.nat(Number.MAX_SAFE_INTEGER), { minLength: 1, maxLength: 6 })
  .chain((indexes) =>
    fc.tuple(
      ...indexes.map((index, place) =>
        fc
          .record({
            name: fc.constantFrom("f", "g", "get_weather"),
            args: objectText,
            cuts: fc.array(fc.nat(60), { maxLength: 6 }),
          })
          .map(({ name, args, cuts }): Plan => {
            const id = `call${place}`;
            return { index, id, name, args, pieces: piecesOf(index, id, name, args, cuts) };
          }),
      ),
    ),
  );

/** The calls' pieces mixed, each call's own in order, the heads in the order of the calls. */
function interleave(calls: readonly Plan[], choices: readonly number[]): Piece[] {
  const queues = calls.map(({ pieces }) => [...pieces]);
  const heads = queues.flatMap((queue) => queue.splice(0, 1));
  const rest: Piece[] = [];
  for (let step = 0; queues.some((queue) => queue.length > 0); step++) {
    const open = queues.filter((queue) => queue.length > 0);
    rest.push(...(open[(choices[step % choices.length] ?? 0) % open.length]?.splice(0, 1) ?? []));
  }
  return [...heads, ...rest];
}

/** The pieces packed into deltas of up to three. */
function pack(pieces: readonly Piece[], sizes: readonly number[]): Piece[][] {
  const deltas: Piece[][] = [];
  for (let at = 0; at < pieces.length; ) {
    const size = sizes[deltas.length % sizes.length] ?? 1;
    deltas.push(pieces.slice(at, at + size));
    at += size;
  }
  return deltas;
}

const order = fc.array(fc.nat(5), { minLength: 1, maxLength: 20 });
const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 });

test("any interleaving by index of calls cut anywhere gives the same calls", () => {
  fc.assert(
    fc.property(plans, order, sizes, (calls, choices, packing) => {
      const gathered = gather(...pack(interleave(calls, choices), packing));
      assert.deepEqual(
        brief(gathered),
        calls.map(({ id, name, args }) => [id, name, args]),
      );
      assert.ok(gathered.every(({ reading, tooLong }) => reading === "plain" && !tooLong));
    }),
    { numRuns: 1_000 },
  );
});

test("without indexes, calls that follow each other are told apart by their heads", () => {
  fc.assert(
    fc.property(plans, (calls) => {
      const deltas = calls.flatMap(({ pieces }) => pieces.map(({ index: _, ...piece }) => piece));
      assert.deepEqual(
        brief(gather(...deltas)),
        calls.map(({ id, name, args }) => [id, name, args]),
      );
    }),
    { numRuns: 500 },
  );
});

const anyFragment: fc.Arbitrary<ToolFragment> = fc.record({
  index: fc.option(fc.nat(3), { nil: undefined }),
  id: fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined }),
  name: fc.option(fc.constantFrom("f", "g", "fg"), { nil: undefined }),
  text: fc.constantFrom("", "{", "}", "{}", '{"x":1}', "[", "null", " "),
  kind: fc.constantFrom("function", "custom"),
  extra: fc.constant(undefined),
  place: fc.nat(2),
});

test("whatever comes, ids are unique and never empty, and no text is lost or invented", () => {
  fc.assert(
    fc.property(fc.array(anyFragment, { maxLength: 30 }), (fragments) => {
      const accumulator = newAccumulator();
      for (const fragment of fragments) accumulator.push(fragment);
      const textOf = (call?: OpenCall) => call?.fragments.join("") ?? "";
      const letters = (texts: readonly string[]) => [...texts.join("")].sort().join("");
      assert.equal(letters(accumulator.calls.map(textOf)), letters(fragments.map(({ text }) => text)));
      const saying = accumulator.calls.filter(({ name, length }) => name !== "" || length > 0);
      const calls = accumulator.finish();
      assert.deepEqual(
        calls.map(({ id }) => id),
        saying.map(({ id }) => id),
      );
      assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length);
      assert.ok(calls.every(({ id }) => id !== ""));
      for (const [place, { raw, reading }] of calls.entries()) {
        assert.ok(reading === "plain" ? raw === textOf(saying[place]) : textOf(saying[place]).includes(raw));
      }
    }),
    { numRuns: 2_000 },
  );
});

test("pieces of one index are one call as long as no other id comes with a name", () => {
  const fragments = fc.array(
    anyFragment.map((one) => ({ ...one, index: 7, id: undefined, name: undefined })),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(fragments, (list) => {
      const accumulator = newAccumulator();
      for (const fragment of list) accumulator.push(fragment);
      assert.equal(accumulator.calls.length, 1);
    }),
  );
});

test("the time for many pieces of many calls is linear in them", () => {
  const accumulator = newAccumulator(4_000_000);
  const startedAt = performance.now();
  for (let piece = 0; piece < 400_000; piece++) {
    const index = (piece % 100) * 1_000_003;
    const name = piece < 100 ? "f" : undefined;
    const text = piece < 100 ? '{"a":"' : "0123456789";
    accumulator.push({ index, id: undefined, name, text, kind: "function", extra: undefined, place: 0 });
  }
  assert.equal(accumulator.finish().length, 100);
  assert.ok(performance.now() - startedAt < 8_000);
});
