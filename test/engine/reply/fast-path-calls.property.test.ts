import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChatChunk, Delta } from "../../../src/core/protocol/wire.ts";
import { cutAt, singly } from "../../core/sse-reading.ts";
import { callPiece, chunk, finish } from "../../support/chunks.ts";
import { readOne } from "../../support/reading.ts";
import { chunksOf } from "../../support/sink.ts";
import { anySpelling, anyText, type Spelling, spell, spellEvent } from "../../support/wire-text.ts";

const TEXT_KEYS = new Set(["arguments", "content", "obfuscation"]);

interface Call {
  name: string;
  pieces: readonly string[];
}

/** JSON text of an object, cut anywhere: also in an escape and between two surrogates. */
const anyPieces = fc
  .tuple(fc.dictionary(anyText, anyText, { maxKeys: 3 }), fc.array(fc.nat(60), { maxLength: 8 }))
  .map(([value, cuts]) => {
    const text = JSON.stringify(value);
    const ends = [...new Set([...cuts.map((cut) => cut % text.length), text.length])].sort((a, b) => a - b);
    return ends.map((end, place) => text.slice(ends[place - 1] ?? 0, end));
  });

const anyCall = (names: readonly string[]): fc.Arbitrary<Call> =>
  fc.record({ name: fc.constantFrom(...names), pieces: anyPieces });

const anyForm = fc.record({
  delta: fc.constantFrom<Delta>({}, { role: "assistant" }, { content: null }, { content: "" }),
  choice: fc.constantFrom({}, { logprobs: null }),
  members: fc.constantFrom({}, { usage: null }, { obfuscation: "x" }, { provider: { note: 1 } }),
});

/** Pieces of several calls in one stream; `turns` says whose piece comes next. */
function chunksFor(calls: readonly Call[], turns: readonly number[], form: Form): ChatChunk[] {
  const left = calls.map(({ pieces }) => [...pieces]);
  const open = (index: number) => ({ index, id: `call_${index}`, name: calls[index]?.name ?? "", args: "" });
  const said = calls.map((_, index) => callPiece(open(index)));
  for (const turn of [...turns, ...calls.flatMap(({ pieces }, index) => pieces.map(() => index))]) {
    const index = turn % calls.length;
    const args = left[index]?.shift();
    if (args !== undefined) said.push(callPiece({ index, args }));
  }
  return said.map((piece) => chunk({ ...form.delta, tool_calls: [piece] }, form.choice, form.members));
}

interface Form {
  delta: Delta;
  choice: object;
  members: object;
}

function bytesOf(chunks: readonly ChatChunk[], spelling: Spelling): Buffer {
  const events = [...chunks, finish("tool_calls")].map((one) =>
    spellEvent(spell(one, spelling, TEXT_KEYS), spelling),
  );
  return Buffer.from(`${events.join("")}${spellEvent("[DONE]", spelling)}`);
}

async function check(calls: readonly Call[], reads: readonly Uint8Array[]): Promise<void> {
  const { reply, error, text } = await readOne(
    { body: reads.map((read) => Buffer.from(read)) },
    { client: ["mine"] },
  );
  assert.equal(error, undefined);
  assert.deepEqual(
    reply?.calls.map(({ name, raw }) => ({ name, raw })),
    calls.map(({ name, pieces }) => ({ name, raw: pieces.join("") })),
  );
  const shown = calls.filter(({ name }) => name === "mine").map(({ pieces }) => pieces.join(""));
  assert.deepEqual(argumentsOf(text), shown);
}

/** What the client has got of the arguments of each call. */
function argumentsOf(text: string): string[] {
  const got: string[] = [];
  for (const { choices } of chunksOf(text)) {
    for (const { index, function: body } of choices?.[0]?.delta?.tool_calls ?? []) {
      got[index] = (got[index] ?? "") + (body?.arguments ?? "");
    }
  }
  return got;
}

test("calls arrive whole, however their arguments are spelled, cut and mixed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyCall(["get_weather", "mine"]), { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(2), { maxLength: 12 }),
      anyForm,
      anySpelling,
      fc.array(fc.nat(4_000), { maxLength: 6 }),
      async (calls, turns, form, spelling, cuts) => {
        const bytes = bytesOf(chunksFor(calls, turns, form), spelling);
        await check(calls, [bytes]);
        await check(calls, cutAt(bytes, cuts));
        await check(calls, singly(bytes));
      },
    ),
    { numRuns: 150 },
  );
});
