import assert from "node:assert/strict";
import { test } from "node:test";
import { Stem } from "../../../src/core/protocol/stem.ts";

const event = (id: string, created: string, rest = "") =>
  `data: {"id":${id},"created":${created},"choices":[]${rest}}\n\n`;
const learned = Stem.of(Buffer.from(event('"one"', "17")), "one", 17) as Stem;

test("bytes of another reply match, and with their names the stem spells them", () => {
  const other = event('"chatcmpl-2"', "1750000000");
  assert.equal(learned.match(Buffer.from(`x${other}data`), 1), other.length + 1);
  assert.equal(String(learned.fill(learned.names)), other);
});

for (const [name, bytes] of [
  ["an empty id", event('""', "17")],
  ["an id with an escape", event('"a\\"b"', "17")],
  ["an id beyond ASCII", event('"é"', "17")],
  ["a time with a fraction", event('"one"', "17.5")],
  ["a time with an exponent", event('"one"', "17e3")],
  ["a time of zero", event('"one"', "0")],
  ["a negative time", event('"one"', "-17")],
  ["a time beyond exact numbers", event('"one"', "1234567890123456")],
  ["a time of no digits", event('"one"', "")],
  ["a further member", event('"one"', "17", ',"id":"two"')],
  ["bytes that are not all there", event('"one"', "17").slice(0, -1)],
  ["an id that is not all there", 'data: {"id":"on'],
  ["nothing", ""],
]) {
  test(`${name} does not match`, () => assert.equal(learned.match(Buffer.from(`${bytes}`), 0), -1));
}

for (const [name, bytes, id, created] of [
  ["another id", event('"one"', "17"), "two", 17],
  ["no id", event('"one"', "17"), undefined, 17],
  ["another time", event('"one"', "17"), "one", 1],
  ["a time of another type", event('"one"', '"17"'), "one", "17"],
  ["the time before the id", '{"created":17,"id":"one"}', "one", 17],
  ["a second id", event('"one"', "17", ',"choices":[{"id":"one"}]'), "one", 17],
  ["a second time", event('"one"', "17", ',"created":17'), "one", 17],
  ["a key with a space behind it", '{"id" :"one","created":17}', "one", 17],
  ["anything escaped", event('"one"', "17", ',"\\u0069d":"two"'), "one", 17],
] as const) {
  test(`nothing is learned from ${name}`, () =>
    assert.equal(Stem.of(Buffer.from(bytes), id, created), undefined));
}
