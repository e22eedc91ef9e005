import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatChunk } from "../../../src/core/protocol/wire.ts";
import { callChunk, chunk, event, finish, said, stream, UPSTREAM } from "../../support/chunks.ts";
import { readOne } from "../../support/reading.ts";
import { chunksOf, readStream } from "../../support/sink.ts";

/** A stream in which the shape of text has long been learned when something else comes. */
const amidst = (...others: unknown[]) =>
  stream(
    chunk({ role: "assistant" }),
    said("a"),
    said("b"),
    said("c"),
    ...others,
    said("d"),
    said("e"),
    finish("stop"),
  );

const contents = (text: string) => readStream(text).content;

test("a tool call between texts of a known shape is a call", async () => {
  const { reply, text } = await readOne(
    amidst(callChunk({ index: 0, id: "c1", name: "get_weather", args: '{"city":"X"}' })),
  );
  assert.equal(contents(text), "abcde");
  assert.deepEqual(
    reply?.calls.map(({ id, name, raw }) => [id, name, raw]),
    [["c1", "get_weather", '{"city":"X"}']],
  );
  assert.equal(reply?.finish, "tool_calls");
  assert.equal(reply?.toMessage([]).content, "abcde");
  assert.deepEqual(readStream(text).calls, []);
});

test("usage and a finish reason on a chunk of a known shape count", async () => {
  const { reply, text } = await readOne(
    amidst(
      chunk({ content: "x" }, {}, { usage: { total_tokens: 3 } }),
      chunk({ content: "y" }, { finish_reason: "length" }),
    ),
  );
  assert.equal(contents(text), "abcxyde");
  assert.deepEqual(reply?.usage, { total_tokens: 3 });
  assert.equal(reply?.finish, "length");
  assert.equal(text.includes("usage"), false);
  assert.deepEqual(readStream(text).finishes, []);
});

test("an error in a stream whose shape is known ends it", async () => {
  const failed = { ...said("x"), error: { message: "overloaded" } };
  const { error, text, target } = await readOne(amidst(failed));
  assert.equal(error?.message, "The upstream reported an error: overloaded");
  assert.equal(contents(text), "abc");
  assert.equal(target.aborted, 1);
});

test("choices are told apart, and only what the first one says is kept", async () => {
  const second = (content: string) => chunk({ content }, { index: 1 });
  const chunks = [
    said("a"),
    second("A"),
    said("b"),
    second("B"),
    said("c"),
    second("C"),
    second("D"),
    second("E"),
  ];
  const ends = [finish("stop"), chunk({}, { index: 1, finish_reason: "length" })];
  const { reply, text } = await readOne(stream(chunk({ role: "assistant" }), ...chunks, ...ends));
  assert.deepEqual([contents(text), readStream(text, 1).content], ["abc", "ABCDE"]);
  assert.deepEqual([readStream(text).roles, readStream(text, 1).roles], [["assistant"], ["assistant"]]);
  assert.equal(reply?.toMessage([]).content, "abc");
});

test("reasoning and text take turns", async () => {
  const think = (reasoning_content: string) => chunk({ reasoning_content });
  const { reply, text } = await readOne(
    stream(
      chunk({ role: "assistant" }),
      think("1"),
      think("2"),
      said("a"),
      said("b"),
      think("3"),
      think("4"),
      said("c"),
      finish("stop"),
    ),
  );
  assert.deepEqual([readStream(text).content, readStream(text).reasoning], ["abc", "1234"]);
  assert.deepEqual(reply?.toMessage([]), { role: "assistant", content: "abc", reasoning_content: "1234" });
});

test("text that looks like the rest of an event, or like a call, stays text", async () => {
  const tail = '"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  const nasty = [
    tail,
    '"content":"x"',
    'data: {"error":1}',
    '{"tool_calls":[]}',
    "</tool_call>",
    "\u0000\u001f",
  ];
  const { text } = await readOne(amidst(...nasty.map(said)));
  assert.equal(contents(text), `abc${nasty.join("")}de`);
});

test("bytes that are no UTF-8 become the same replacement characters on both paths", async () => {
  const raw = (bytes: number[]) => {
    const [head, tail] = event(said("@")).split("@");
    return Buffer.concat([Buffer.from(String(head)), Buffer.from(bytes), Buffer.from(String(tail))]);
  };
  const broken = [[0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x8c], [0xc0, 0xaf], [0xed, 0xa0, 0x80]];
  const body = Buffer.concat([
    Buffer.from([chunk({ role: "assistant" }), said("a"), said("b")].map(event).join("")),
    ...broken.map(raw),
    Buffer.from(stream(finish("stop"))),
  ]);
  const fast = await readOne({ body: [body] });
  const slow = await readOne({ body: Array.from(body, (byte) => Buffer.from([byte])) });
  assert.equal(contents(fast.text), contents(slow.text));
  assert.equal(fast.reply?.toMessage([]).content, slow.reply?.toMessage([]).content);
});

for (const [name, inside] of [
  ["a raw control character", "x\ty"],
  ["an escape that JSON does not know", "\\q"],
  ["a cut escape", "\\u12"],
]) {
  test(`${name} in the text makes the event no JSON, also where its shape is known`, async () => {
    const broken = event(said("@")).replace("@", () => String(inside));
    const before = [chunk({ role: "assistant" }), said("a"), said("b")].map(event).join("");
    const { error, text } = await readOne(`${before}${broken}${stream(finish("stop"))}`);
    assert.equal(error?.message, "The upstream sent an event that is not a JSON object.");
    assert.equal(contents(text), "ab");
  });
}

test("half a surrogate pair in one event and half in the next are one character again", async () => {
  const halves = ["\\ud83c", "\\udf0d"].map((half) => event(said("@")).replace("@", () => half));
  const before = [chunk({ role: "assistant" }), said("a"), said("b")].map(event).join("");
  const { reply, text } = await readOne(`${before}${halves.join("")}${stream(finish("stop"))}`);
  assert.equal(contents(text), "ab🌍");
  assert.equal(reply?.toMessage([]).content, "ab🌍");
});

test("members that change from event to event reach the client with the text", async () => {
  const scored = (content: string, score: number) =>
    chunk({ content }, { logprobs: { content: [{ score }] } });
  const chunks = ["a", "b", "c"].map((text, place) => scored(text, place));
  const { text } = await readOne(stream(chunk({ role: "assistant" }), ...chunks, finish("stop")));
  assert.deepEqual(
    chunksOf(text).flatMap(({ choices }) => choices.map(({ logprobs }) => logprobs)),
    [undefined, ...[0, 1, 2].map((score) => ({ content: [{ score }] }))],
  );
});

test("an upstream whose every event has another shape is read to the end", async () => {
  const chunks = Array.from(
    { length: 100 },
    (_, place): ChatChunk => ({ ...said("x"), [`m${place}`]: place }),
  );
  const { text } = await readOne(stream(chunk({ role: "assistant" }), ...chunks, finish("stop")));
  assert.equal(contents(text), "x".repeat(100));
  assert.deepEqual(
    chunksOf(text)
      .slice(1)
      .map(({ id }) => id),
    Array(100).fill(UPSTREAM.id),
  );
});

test("an event begins with a mark or a space that JSON does not know, and is read all the same", async () => {
  for (const mark of ["\ufeff", "\u00a0", " \t"]) {
    const marked = (content: string) => event(said(content)).replace("data: ", () => `data: ${mark}`);
    const { text } = await readOne(
      `${event(chunk({ role: "assistant" }))}${["a", "b", "c"].map(marked).join("")}${stream(finish("stop"))}`,
    );
    assert.equal(contents(text), "abc");
  }
});
