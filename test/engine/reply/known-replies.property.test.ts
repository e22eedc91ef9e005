import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cutAt } from "../../core/sse-reading.ts";
import { readOne } from "../../support/reading.ts";
import { chunksOf } from "../../support/sink.ts";
import { fakeTarget } from "../../support/upstream.ts";
import { anyOrder, anySpelling, anyText, type Spelling, spell, spellEvent } from "../../support/wire-text.ts";

const TEXT_KEYS = new Set(["content"]);
const IDS = ["chatcmpl-1", "chatcmpl-2", "a.b:c_d-e", "1", "", 'q"x', "b\\s", "é", 7, null, undefined];
const TIMES = [1_750_000_000, 1_750_000_001, 7, 70, 0, -5, 1.5, 1e21, "1750000000", null, undefined];

/** What replies of one kind have in common. */
const kind = fc.record({
  order: anyOrder({ id: 0, object: 0, created: 0, model: 0, choices: 0, fingerprint: 0 }).map(Object.keys),
  usual: fc.boolean(),
  model: fc.constantFrom("gpt", "gpt-2026"),
  members: fc.constantFrom({}, {}, { nested: { id: "chatcmpl-1", created: 7 } }, { note: 'say "id":"x"' }),
  delta: fc.constantFrom({ content: "" }, {}, { content: "", refusal: null }, { reasoning_details: [] }),
  spelling: anySpelling,
});

const reply = fc.record({
  id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...IDS.slice(0, 3)) }, fc.constantFrom(...IDS)),
  created: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...TIMES.slice(0, 3)) },
    fc.constantFrom(...TIMES),
  ),
  /** Of the events after the first. */
  laterId: fc.option(fc.constantFrom(...IDS), { nil: undefined, freq: 6 }),
  role: fc.constantFrom("assistant", "assistant", "assistant", "system"),
  index: fc.constantFrom(0, 0, 0, 0, 1),
  opens: fc.constantFrom(true, true, true, false),
  texts: fc.array(anyText, { maxLength: 3 }),
  finish: fc.constantFrom("stop", "stop", "length", "content_filter"),
  usage: fc.boolean(),
  done: fc.constantFrom(true, true, true, false),
  cuts: fc.array(fc.nat(1_500), { maxLength: 3 }),
  strict: fc.boolean(),
});

type Kind = typeof kind extends fc.Arbitrary<infer T> ? T : never;
type Reply = typeof reply extends fc.Arbitrary<infer T> ? T : never;

const USUAL = ["id", "object", "created", "model", "fingerprint", "choices"];

function bodyOf(made: Reply, { order, usual, model, members, delta, spelling }: Kind): Buffer {
  const event = (id: unknown, choices: object[], more: object = {}) => {
    const { created } = made;
    const object = "chat.completion.chunk";
    const whole: Record<string, unknown> = { id, object, created, model, choices, fingerprint: "fp" };
    const ordered = (usual ? USUAL : order).map((key) => [key, whole[key]] as const);
    const there = ordered.filter(([, value]) => value !== undefined);
    return eventText({ ...Object.fromEntries(there), ...members, ...more }, spelling);
  };
  const { id, laterId = id, index, role, finish } = made;
  const choice = (said: object, reason: string | null = null) => [
    { index, delta: said, finish_reason: reason },
  ];
  const events = [
    ...(made.opens ? [event(id, choice({ role, ...delta }))] : []),
    ...made.texts.map((content) => event(laterId, choice({ content }))),
    event(laterId, choice({}, finish)),
    ...(made.usage ? [event(laterId, [], { usage: { total_tokens: 3 } })] : []),
    ...(made.done ? [spellEvent("[DONE]", spelling)] : []),
  ];
  return Buffer.from(events.join(""));
}

const eventText = (value: object, spelling: Spelling) =>
  spellEvent(spell(value, spelling, TEXT_KEYS), spelling);

test("a reply is read and written alike, whatever its upstream answered before", async () => {
  await fc.assert(
    fc.asyncProperty(kind, fc.array(reply, { minLength: 2, maxLength: 6 }), async (form, replies) => {
      const scripted = replies.map((made) => ({
        body: cutAt(bodyOf(made, form), made.cuts).map((b) => Buffer.from(b)),
      }));
      const target = fakeTarget(scripted, { secret: "sk-very-secret" });
      for (const [place, script] of scripted.entries()) {
        const strict = replies[place]?.strict === true;
        const alone = await readOne(script, { strict });
        const after = await readOne(script, { strict, target });
        assert.deepEqual(chunksOf(after.text), chunksOf(alone.text));
        assert.equal(after.error?.message, alone.error?.message);
        assert.deepEqual(after.reply?.toMessage([]), alone.reply?.toMessage([]));
        assert.equal(after.reply?.finish, alone.reply?.finish);
        assert.deepEqual(after.reply?.usage, alone.reply?.usage);
      }
    }),
    { numRuns: 400 },
  );
});
