import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { callChunk, chunk, finish, said, stream, textStream } from "../../support/chunks.ts";
import { perform, weather } from "../../support/perform.ts";
import { readStream } from "../../support/sink.ts";

const cutCall = (args: string, ...before: unknown[]) =>
  stream(...before, callChunk({ index: 0, id: "1", name: "get_weather", args }), finish("length"));

const citiesSent = (sent: readonly { args: unknown }[]) =>
  sent.map(({ args }) => (args as { city?: unknown }).city);

test("a text that continues the arguments completes the call, wherever it was cut, and is not shown", async () => {
  const args = JSON.stringify({ city: 'Zürich "north"' });
  const anyCut = fc.integer({ min: 1, max: args.length - 1 });
  await fc.assert(
    fc.asyncProperty(anyCut, async (at) => {
      const replies = [cutCall(args.slice(0, at)), textStream(args.slice(at)), textStream("Mild.")];
      const { transport, sink, stop } = await perform(replies);
      assert.deepEqual(citiesSent(transport.sent), ['Zürich "north"']);
      assert.equal(readStream(sink.text).content, "Mild.");
      assert.equal(stop, "completed");
    }),
    { numRuns: 30 },
  );
});

test("the model is told what was cut off, which parameter was open, and only once", async () => {
  const cut = cutCall('{"city":"Par', said("Let me see."));
  const { target, transport, stop } = await perform([cut, cut]);
  const messages = target.asked(1)["messages"] as { role: string; content: string }[];
  assert.deepEqual(messages.at(-2), { role: "assistant", content: "Let me see." });
  for (const part of ["length", "get_weather", '{"city":"Par', '"city"']) {
    assert.ok(messages.at(-1)?.content.includes(part), part);
  }
  assert.deepEqual([target.requests.length, transport.sent.length, stop], [2, 0, "length"]);
});

test("a fresh call replaces the cut one, and the text of both replies is the model's", async () => {
  const fresh = stream(
    said(" Again."),
    callChunk({ index: 0, ...weather("2", "Rome") }),
    finish("tool_calls"),
  );
  const { transport, target, sink } = await perform([
    cutCall('{"city":"Par', chunk({ role: "assistant" }), said("One moment.")),
    fresh,
    textStream(" Warm."),
  ]);
  assert.deepEqual(citiesSent(transport.sent), ["Rome"]);
  assert.equal(readStream(sink.text).content, "One moment. Again. Warm.");
  const history = target.asked(2)["messages"] as { role: string; content: unknown }[];
  assert.deepEqual(
    history.map(({ role }) => role),
    ["user", "assistant", "tool"],
  );
  assert.equal(history[1]?.content, "One moment. Again.");
});

test("arguments that are sent again from their beginning count once", async () => {
  const { transport } = await perform([
    cutCall('{"city":"Ro'),
    textStream(' {"city":"Rome"} '),
    textStream("x"),
  ]);
  assert.deepEqual(citiesSent(transport.sent), ["Rome"]);
});

test("what closes more than the arguments, and a fence, is no part of them", async () => {
  for (const rest of [
    'is"}}</tool_call>',
    '```json\nis"}\n```',
    'is"}\n<|call|>',
    '```\n{"city":"Paris"}\n```',
  ]) {
    const { transport, sink } = await perform([cutCall('{"city":"Par'), textStream(rest), textStream("x")]);
    assert.deepEqual(citiesSent(transport.sent), ["Paris"], rest);
    assert.equal(readStream(sink.text).content, "x");
  }
  for (const rest of ['is"} and more', 'is"}{"city":"Rome"}', 'is"}{"a":1}}']) {
    const { transport } = await perform([cutCall('{"city":"Par'), textStream(rest), textStream("x")]);
    assert.deepEqual(citiesSent(transport.sent), [], rest);
  }
});

test("any other text is the model's answer", async () => {
  const { transport, sink, stop } = await perform([cutCall('{"city":"Ro'), textStream("I cannot do that.")]);
  assert.deepEqual([transport.sent.length, stop], [0, "completed"]);
  assert.equal(readStream(sink.text).content, "I cannot do that.");
});

test("what is cut off again is neither run nor shown", async () => {
  const again = stream(said("me and"), finish("length"));
  const { transport, sink, stop, ending } = await perform([cutCall('{"city":"Ro'), again]);
  assert.deepEqual([transport.sent.length, stop, ending.finish], [0, "length", "length"]);
  assert.equal(readStream(sink.text).content, "");
});
