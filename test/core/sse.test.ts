import assert from "node:assert/strict";
import { test } from "node:test";
import v8 from "node:v8";
import vm from "node:vm";
import fc from "fast-check";
import { SseDecoder } from "../../src/core/sse.ts";
import { cutAt, dispatched, oracle, readAll, singly } from "./sse-reading.ts";

const PIECES = [
  ...[
    "data",
    "event",
    "error",
    "id",
    "retry",
    ":",
    ": ",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\0",
    "x",
    "é",
    "🌍",
  ],
  ...["data: a\n\n", "data:\n", "data\n\n", "event: e\n", "error: no\n", "dataa: x\n", "\ufeff", "Data: y\n"],
];

/** Bytes that look like events, with bytes that are no UTF-8 among them. */
const soup = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...PIECES).map((piece) => Buffer.from(piece)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)) },
    ),
    { maxLength: 60 },
  )
  .map((pieces) => Buffer.concat(pieces));

test("bytes of any kind give the events that eventsource-parser gives", () => {
  fc.assert(
    fc.property(soup, (bytes) => {
      // The other parser waits for what follows a CR at the very end; a comment behind it changes nothing.
      const closed = Buffer.concat([bytes, Buffer.from("\n:")]);
      assert.deepEqual(dispatched(readAll([closed])), oracle(closed));
    }),
    { numRuns: 2_000 },
  );
});

test("however the input is cut, the events are the same, and so is what the end hands out", () => {
  fc.assert(
    fc.property(soup, fc.array(fc.nat(200), { maxLength: 12 }), (bytes, cuts) => {
      const whole = new SseDecoder(1_000_000);
      const cut = new SseDecoder(1_000_000);
      assert.deepEqual(readAll(cutAt(bytes, cuts), cut), readAll([bytes], whole));
      assert.deepEqual(cut.end(), whole.end());
      assert.deepEqual(readAll(singly(bytes)), readAll([bytes]));
    }),
    { numRuns: 1_000 },
  );
});

for (const [name, text, events] of [
  ["an event without data is none", "event: ping\n\n: hi\n\nid: 7\n\n", []],
  ["an empty data line is data", "data\n\ndata:\n\n", ["", ""]],
  ["data lines are joined by LF, whatever ends them", "data: a\r\ndata: b\rdata: c\n\n", ["a\nb\nc"]],
  ["one space after the colon is no part of the value", "data:  a\ndata:b\n\n", [" a\nb"]],
  ["one BOM at the beginning is skipped, no other", "\ufeffdata: a\n\n\ufeffdata: b\n\n", ["a"]],
  ["a field name is compared as it is", "Data: a\n data: b\ndata : c\n\n", []],
] as [string, string, string[]][]) {
  test(name, () =>
    assert.deepEqual(
      readAll([Buffer.from(text)]).map(({ data }) => data),
      events,
    ),
  );
}

test("an error field makes an event, also without data", () => {
  const events = readAll([Buffer.from("error: no\n\nevent: e\nerror\ndata: x\n\n")]);
  assert.deepEqual(events, [
    { event: "", data: undefined, error: "no" },
    { event: "e", data: "x", error: "" },
  ]);
});

test("an event is handed out at its blank line, before the LF of a CRLF has come", () => {
  const decoder = new SseDecoder(100);
  assert.deepEqual(dispatched(readAll([Buffer.from("data: a\r\n\r")], decoder)), [
    { event: "message", data: "a" },
  ]);
  assert.equal(decoder.idle, true);
  assert.deepEqual(readAll([Buffer.from("\n")], decoder), []);
  assert.equal(decoder.end(), undefined);
});

test("nothing is held before the first byte and between two events only", () => {
  const decoder = new SseDecoder(100);
  const idleAfter = (text: string) => {
    readAll([Buffer.from(text)], decoder);
    return decoder.idle;
  };
  assert.deepEqual(["", "d", "ata: a", "\n", "\n", ": c\n", "\n", "event: e\n\n"].map(idleAfter), [
    false,
    false,
    false,
    false,
    true,
    false,
    true,
    true,
  ]);
});

test("the end hands out an event that no blank line closed, once", () => {
  for (const [text, data] of [
    ["data: a", "a"],
    ["data: a\n", "a"],
    ["data: a\r", "a"],
    ["data: a\ndata: b", "a\nb"],
    ["data: a\n\n", undefined],
    [": comment", undefined],
    ["event: e", undefined],
    ["", undefined],
  ] as const) {
    const decoder = new SseDecoder(100);
    readAll([Buffer.from(text)], decoder);
    assert.equal(decoder.end()?.data, data, text);
    assert.equal(decoder.end(), undefined);
  }
});

test("an event of more bytes than allowed is refused, in one line, in many, and however it is cut", () => {
  const long = Buffer.from(`data: ${"x".repeat(93)}\n`);
  const many = Buffer.from("data: 1\n".repeat(13));
  for (const bytes of [long, many]) {
    assert.doesNotThrow(() => readAll(singly(bytes), new SseDecoder(bytes.length)));
    assert.throws(() => readAll([bytes], new SseDecoder(bytes.length - 1)), RangeError);
    assert.throws(() => readAll(singly(bytes), new SseDecoder(bytes.length - 1)), RangeError);
  }
  const small = Buffer.from("data: 1\n\n".repeat(50));
  assert.equal(readAll(singly(small), new SseDecoder(10)).length, 50);
});

test("an event of 2 MB costs about the same in reads of any size", () => {
  const event = Buffer.from(`data: ${"x".repeat(2_000_000)}\n\n`);
  for (const size of [1, 64, 4_096, 65_536]) {
    const decoder = new SseDecoder(4_000_000);
    const startedAt = performance.now();
    for (let from = 0; from < event.length; from += size) decoder.read(event.subarray(from, from + size), 0);
    assert.equal(decoder.event?.data?.length, 2_000_000);
    // Quadratic time would be minutes for single bytes.
    assert.ok(performance.now() - startedAt < 8_000, `${size} bytes a read`);
  }
});

test("what is held takes about as much memory as it has bytes, however small the reads", () => {
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc") as () => void;
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const decoder = new SseDecoder(4_000_000);
  const before = used();
  for (let read = 0; read < 1_000_000; read++) decoder.read(Buffer.from("x"), 0);
  assert.ok(used() - before < 16_000_000, `${used() - before} bytes for a million`);
  assert.equal(decoder.idle, false);
});
