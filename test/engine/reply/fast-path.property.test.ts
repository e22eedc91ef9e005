import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChatChunk, Choice, Delta } from "../../../src/core/protocol/wire.ts";
import { cutAt, singly } from "../../core/sse-reading.ts";
import { finish, UPSTREAM } from "../../support/chunks.ts";
import { readOne } from "../../support/reading.ts";
import { chunksOf } from "../../support/sink.ts";
import { anyOrder, anySpelling, anyText, type Spelling, spell, spellEvent } from "../../support/wire-text.ts";

const TEXT_KEYS = new Set(["content", "reasoning_content", "refusal", "obfuscation"]);
/** The model's name as the client asked for it and another one: with the first an event may pass unchanged. */
const MODELS = ["gpt", "gpt-2026-01-01"];

type Member = "content" | "reasoning_content" | "refusal";

interface Said {
  member: Member;
  text: string;
  padding: string;
}

interface Shape {
  model: string;
  members: object;
  choice: object;
  delta: Delta;
  padded: boolean;
  order: readonly string[];
}

const shape: fc.Arbitrary<Shape> = fc.record({
  model: fc.constantFrom(...MODELS),
  members: fc.constantFrom({}, { system_fingerprint: "fp" }, { usage: null }, { provider: { content: 1 } }),
  choice: fc.constantFrom(
    {},
    { logprobs: null },
    { content_filter_results: {} },
    { native_finish_reason: null },
  ),
  delta: fc.constantFrom({}, { role: "assistant" }, { tool_calls: [] }, { function_call: null }),
  padded: fc.boolean(),
  order: anyOrder({ id: 0, object: 0, created: 0, model: 0, choices: 0, obfuscation: 0 }).map(Object.keys),
});

const saying: fc.Arbitrary<Said[]> = fc.array(
  fc.record({
    member: fc.constantFrom<Member>("content", "content", "content", "reasoning_content", "refusal"),
    text: anyText,
    padding: fc.string({ maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 10 },
);

/** A member stays for a while, as it does in a real stream, so that its shape is learned and used. */
const runs: fc.Arbitrary<Said[]> = fc.tuple(saying, fc.boolean()).map(([list, steady]) => {
  const [first] = list;
  return steady && first ? list.map((said) => ({ ...said, member: first.member })) : list;
});

function build(said: Said, { model, members, choice, delta, padded, order }: Shape): ChatChunk {
  const whole: Record<string, unknown> = {
    ...UPSTREAM,
    object: "chat.completion.chunk",
    model,
    choices: [{ index: 0, delta: { [said.member]: said.text, ...delta }, finish_reason: null, ...choice }],
    obfuscation: said.padding,
  };
  const keys = order.filter((key) => padded || key !== "obfuscation");
  return { ...Object.fromEntries(keys.map((key) => [key, whole[key]])), ...members };
}

/** What the client must get for the chunks: written down from the contract, without a look at bytes. */
function expected(chunks: readonly ChatChunk[]): ChatChunk[] {
  let open = false;
  return chunks.flatMap((chunk): ChatChunk[] => {
    const [choice] = chunk.choices as [Choice];
    const { role: _, tool_calls: __, function_call: ___, ...delta } = choice.delta ?? {};
    const says = Object.values(delta).some((value) => value !== "");
    if (!says && open) return [];
    const out = says ? { ...choice, delta } : { index: 0, delta: { content: "" }, finish_reason: null };
    const role = open ? {} : { role: "assistant" };
    open = true;
    const seen = { ...chunk, model: "gpt", choices: [{ ...out, delta: { ...role, ...out.delta } }] };
    return [withoutExtras(seen)];
  });
}

function withoutExtras({ obfuscation: _, toolweir: __, ...rest }: ChatChunk): ChatChunk {
  return rest;
}

function bytesOf(chunks: readonly ChatChunk[], spelling: Spelling): Buffer {
  const events = [...chunks, finish("stop")].map((chunk) =>
    spellEvent(spell(chunk, spelling, TEXT_KEYS), spelling),
  );
  return Buffer.from(`${events.join("")}${spellEvent("[DONE]", spelling)}`);
}

async function check(chunks: readonly ChatChunk[], reads: readonly Uint8Array[]): Promise<void> {
  const { reply, error, text } = await readOne({ body: reads.map((read) => Buffer.from(read)) });
  assert.equal(error, undefined);
  assert.deepEqual(chunksOf(text).map(withoutExtras), expected(chunks));
  const kept = (member: Member) =>
    chunks.map(({ choices }) => (choices as Choice[])[0]?.delta?.[member] ?? "").join("");
  const message = reply?.toMessage([]);
  assert.equal(message?.content, kept("content") || null);
  assert.equal(message?.["reasoning_content"] ?? null, kept("reasoning_content") || null);
  assert.equal(message?.["refusal"], undefined);
}

test("whatever is said and however it is spelled and cut, the client gets the chunks and the model's words are kept", async () => {
  await fc.assert(
    fc.asyncProperty(
      ...([runs, shape, anySpelling, fc.array(fc.nat(4_000), { maxLength: 8 })] as const),
      async (said, form, spelling, cuts) => {
        const chunks = said.map((one) => build(one, form));
        const bytes = bytesOf(chunks, spelling);
        await check(chunks, [bytes]);
        await check(chunks, cutAt(bytes, cuts));
        await check(chunks, singly(bytes));
      },
    ),
    { numRuns: 250 },
  );
});

test("shapes that change in the middle of a stream are told apart", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(runs, shape), { minLength: 1, maxLength: 5 }),
      anySpelling,
      async (parts, spelling) => {
        const chunks = parts.flatMap(([said, form]) => said.map((one) => build(one, form)));
        await check(chunks, [bytesOf(chunks, spelling)]);
      },
    ),
    { numRuns: 200 },
  );
});

test("a stream cut in two at any byte gives the same chunks", async () => {
  const form = {
    model: "gpt",
    members: {},
    choice: {},
    delta: {},
    padded: true,
    order: ["id", "object", "created"],
  };
  const order = [...form.order, "model", "choices", "obfuscation"];
  const texts = ["H", "\u{1f30d}", '"}]', "", "\ud83d"];
  const chunks = texts.map((text) =>
    build({ member: "content", text, padding: "x".repeat(text.length) }, { ...form, order }),
  );
  for (const lineEnd of ["\n", "\r\n", "\r"]) {
    const spelling = { prefix: "data: ", lineEnd, comma: ",", colon: ":", quote: JSON.stringify };
    const bytes = bytesOf(chunks, spelling);
    for (let cut = 1; cut < bytes.length; cut++) await check(chunks, cutAt(bytes, [cut]));
  }
});
