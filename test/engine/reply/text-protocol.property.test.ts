import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TEXT_FORMATS } from "../../../src/core/protocol/text/formats/all.ts";
import type { TextFormat } from "../../../src/core/protocol/text/reader.ts";
import { textProtocol } from "../../../src/core/protocol/text/text-protocol.ts";
import { readPieces } from "../../core/protocol/text/reading.ts";
import { cutAt } from "../../core/sse-reading.ts";
import { chunk, finish, said } from "../../support/chunks.ts";
import { readOne } from "../../support/reading.ts";
import { chunksOf } from "../../support/sink.ts";
import { fakeTarget, type ScriptedReply } from "../../support/upstream.ts";
import { anySpelling, type Spelling, spell, spellEvent } from "../../support/wire-text.ts";

const tools = new Map([
  ["get_weather", undefined],
  ["put", undefined],
]);
const WORDS = [
  "It",
  " is",
  " sunny",
  ".\n",
  "\n",
  " ",
  "`x`",
  "a < b",
  " [1]",
  "{",
  "\\n",
  "é",
  "🌍",
  "\t",
  "  - ",
];
const CALLS = [
  '{"name": "put", "arguments": {"n": 1}}',
  "get_weather",
  '{"n": 1}',
  '"put"',
  "```",
  "\nAction: put\n",
];

/** What a model may say, delta by delta: mostly words, and now and then markup, whole or cut anywhere. */
function deltas({ markers, closesReasoning }: TextFormat): fc.Arbitrary<string[]> {
  const text = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
      { weight: 1, arbitrary: fc.constantFrom(...markers, closesReasoning, ...CALLS) },
    ),
    { minLength: 1, maxLength: 16 },
  );
  return fc
    .tuple(text, fc.boolean())
    .map(([parts, small]) => (small ? parts.flatMap((part) => part.split("")) : parts));
}

function bytesOf(pieces: readonly string[], spelling: Spelling, id: string): Buffer {
  const head = chunk({ role: "assistant", content: "" });
  const events = [head, ...pieces.map(said), finish("stop")].map((one) =>
    spellEvent(spell({ ...one, id }, spelling, new Set(["content"])), spelling),
  );
  return Buffer.from(`${events.join("")}${spellEvent("[DONE]", spelling)}`);
}

/** What one after the other of a stream's chunks says in a member. */
const joined = (text: string, member: string) =>
  chunksOf(text)
    .map(({ choices }) => choices[0]?.delta[member] ?? "")
    .join("");

for (const format of TEXT_FORMATS) {
  const name = format.names[0] as string;

  test(`${name}: what goes past the reader is what the reader would have given out`, async () => {
    const adapter = textProtocol(name, "m");
    assert.ok(adapter);
    const replies: ScriptedReply[] = [];
    const target = fakeTarget(replies);
    await fc.assert(
      fc.asyncProperty(
        deltas(format),
        anySpelling,
        fc.array(fc.nat(3_000), { maxLength: 3 }),
        async (pieces, spelling, cuts) => {
          const bytes = bytesOf(pieces, spelling, `chatcmpl-${replies.length}`);
          replies.push({ body: cutAt(bytes, cuts).map((read) => Buffer.from(read)) });
          const read = await readOne("", { target, context: { textAdapter: () => adapter(tools) } });
          const expected = readPieces(format, [pieces.join("")], tools);
          assert.equal(joined(read.text, "content"), expected.content);
          assert.equal(joined(read.text, "reasoning_content"), expected.reasoning);
          const calls = read.reply?.calls.map((call) => ({ name: call.name, text: call.raw }));
          assert.deepEqual(
            calls,
            expected.calls.map((call) => ({ name: call.name, text: call.text })),
          );
          assert.equal(read.reply?.toMessage([]).content, expected.content || null);
        },
      ),
      { numRuns: 60 },
    );
  });
}
