import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/errors.ts";
import { cutAt } from "../../core/sse-reading.ts";
import { event, UPSTREAM } from "../../support/chunks.ts";
import { type ReadOutcome, readOne } from "../../support/reading.ts";
import { chunksOf, eventsOf } from "../../support/sink.ts";
import { anyText } from "../../support/wire-text.ts";

const CLIENT = ["ask", "my_tool"];
const odd = fc.constantFrom<unknown>(null, 0, -1, 1, 1.5, "", "0", "x", true, [], {}, [null], { a: 1 });

/** Mostly what a provider sends, sometimes anything. */
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: odd });

const call = fc.record(
  {
    index: mostly(fc.nat(3)),
    id: mostly(fc.constantFrom("a", "b", "c")),
    type: mostly(fc.constantFrom("function", "custom")),
    function: mostly(
      fc.record(
        {
          name: mostly(fc.constantFrom("put", "ask", "my_tool", "nobody")),
          arguments: mostly(fc.constantFrom("", "{", "}", '{"x":1}', '"x"')),
        },
        { requiredKeys: [] },
      ),
    ),
    custom: odd,
    extra_content: odd,
  },
  { requiredKeys: ["function"] },
);

const delta = fc.record(
  {
    role: mostly(fc.constant("assistant")),
    content: mostly(anyText),
    reasoning_content: mostly(anyText),
    refusal: odd,
    tool_calls: mostly(fc.array(mostly(call), { maxLength: 3 })),
    function_call: odd,
  },
  { requiredKeys: [] },
);

const choice = fc.record(
  {
    index: mostly(fc.constantFrom(0, 0, 0, 1)),
    delta: mostly(delta),
    message: odd,
    finish_reason: mostly(fc.constantFrom(null, null, null, "stop", "tool_calls", "length")),
    logprobs: odd,
  },
  { requiredKeys: ["delta"] },
);

const anyChunk = fc.record(
  {
    id: mostly(fc.constant(UPSTREAM.id)),
    created: mostly(fc.constant(7)),
    choices: mostly(fc.array(mostly(choice), { maxLength: 2 })),
    usage: odd,
    obfuscation: anyText,
    error: fc.constantFrom(undefined, undefined, undefined, null, ""),
  },
  { requiredKeys: ["id", "choices"] },
);

const textEvent = (content: string) =>
  event({
    ...UPSTREAM,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  });

const steady = fc
  .array(anyText, { minLength: 1, maxLength: 6 })
  .map((texts) => texts.map(textEvent).join(""));

const junk = fc.constantFrom(
  ": hi\n\n",
  "\n",
  "event: ping\ndata: {}\n\n",
  "id: 1\nretry: 5\n\n",
  "data:\n\n",
  "\r\n",
);

/** A stream of any chunks, texts of one shape among them; some bytes of some streams are replaced. */
const hostile = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: anyChunk.map(event) },
        { weight: 3, arbitrary: steady },
        { weight: 1, arbitrary: junk },
      ),
      { maxLength: 12 },
    ),
    fc.constantFrom(
      "data: [DONE]\n\n",
      'data: {"choices":[{"index":0,"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
      "",
    ),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fc.tuple(fc.nat(3_000), fc.nat(255)), { maxLength: 3 }) },
    ),
  )
  .map(([events, end, changes]) => {
    const bytes = Buffer.from(`${events.join("")}${end}`);
    for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
    return bytes;
  });

/** What every client may rely on, whatever the upstream did. */
function checkClient({ text, reply, error }: ReadOutcome): void {
  assert.ok(reply !== undefined || error instanceof GatewayError, `${error?.stack}`);
  assert.match(text, /^(data: [^\n\r]+\n\n)*$/);
  assert.ok(!eventsOf(text).includes("[DONE]"));
  const roles = new Map<unknown, number>();
  const seen = new Set<string>();
  for (const { id, created, model, object, choices, usage } of chunksOf(text)) {
    seen.add(`${id} ${created} ${model} ${object}`);
    assert.ok(typeof usage !== "object" || usage === null, "usage comes at the end");
    for (const { index, delta: said, finish_reason } of choices) {
      assert.equal(finish_reason, null);
      if (said.role !== undefined) roles.set(index, (roles.get(index) ?? 0) + 1);
      assert.ok(roles.has(index), "a choice begins with its role");
      for (const { function: body } of said.tool_calls ?? []) {
        assert.ok(body?.name === undefined || CLIENT.includes(body.name), body?.name);
      }
    }
  }
  assert.ok(seen.size <= 1);
  assert.ok([...roles.values()].every((count) => count === 1));
}

test("whatever an upstream streams, the client gets well-formed chunks, and the end is a reply or an error with a code", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.array(fc.nat(3_000), { maxLength: 6 }), async (bytes, cuts) => {
      const whole = await readOne({ body: [bytes] }, { client: CLIENT });
      checkClient(whole);
      const cut = await readOne(
        { body: cutAt(bytes, cuts).map((read) => Buffer.from(read)) },
        { client: CLIENT },
      );
      checkClient(cut);
      assert.deepEqual(
        [cut.reply?.finish, cut.reply?.calls, cut.error?.message],
        [whole.reply?.finish, whole.reply?.calls, whole.error?.message],
      );
      const parsed = ({ text }: ReadOutcome) => chunksOf(text).map(({ obfuscation: _, ...rest }) => rest);
      assert.deepEqual(parsed(cut), parsed(whole));
    }),
    { numRuns: 1_000 },
  );
});
