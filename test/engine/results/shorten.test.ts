import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";
import { fitting, shortenJson } from "../../../src/engine/results/shorten.ts";

function parse(text: string): JsonValue {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  parser.end();
  return parser.value as JsonValue;
}

function shorten(value: unknown, maxBytes: number) {
  const short = shortenJson(parse(JSON.stringify(value)), maxBytes);
  assert.ok(short);
  assert.ok(Buffer.byteLength(short.text) <= maxBytes, `${short.text.length} of ${maxBytes}`);
  return { data: JSON.parse(short.text), missing: short.missing };
}

test("an array loses its last items", () => {
  const items = Array.from({ length: 1000 }, (_, id) => ({ id, name: `name ${id}` }));
  const { data, missing } = shorten({ total: 1000, items, next: "abc" }, 4000);
  assert.deepEqual([data.total, data.next], [1000, "abc"]);
  assert.ok(data.items.length > 100);
  assert.deepEqual(data.items, items.slice(0, data.items.length));
  assert.deepEqual(missing, [{ path: "items", what: "items", missing: 1000 - data.items.length, of: 1000 }]);
});

test("long strings lose their ends, and what is small stays whole", () => {
  const value = { id: 7, title: "short", body: "x".repeat(5000), notes: ["y".repeat(5000), "z"] };
  const { data, missing } = shorten(value, 1000);
  assert.deepEqual([data.id, data.title], [7, "short"]);
  assert.match(data.body, /^x{300,}…$/);
  assert.match(data.notes[0], /^y{300,}…$/);
  assert.equal(data.notes[1], "z");
  assert.deepEqual(
    missing.map(({ path, what }) => [path, what]),
    [
      ["body", "characters"],
      ["notes[0]", "characters"],
    ],
  );
});

test("a few long items all keep something, of many only the first stay", () => {
  const long = { text: "x".repeat(5000) };
  assert.equal(shorten([long, long, long], 4000).data.length, 3);
  const many = shorten(Array(500).fill(long), 4000).data;
  assert.ok(many.length >= 4 && many.length <= 8, `${many.length}`);
});

test("members are left out only where not all can be shown", () => {
  const few = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`m${at}`, "x".repeat(1000)]));
  assert.equal(Object.keys(shorten(few, 4000).data).length, 50);
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`member ${at}`, at]));
  const { data, missing } = shorten({ many, last: 1 }, 2000);
  assert.equal(data.last, 1);
  assert.deepEqual(missing[0]?.path, "many");
  assert.equal(missing[0]?.what, "members");
  assert.deepEqual(shorten({ ["k".repeat(5000)]: 1, a: 2 }, 100).data, { a: 2 });
});

test("numbers are as they were written", () => {
  const text = `{"a":[12345678901234567890,1e400,-0],"b":"${"x".repeat(500)}"}`;
  const short = shortenJson(parse(text), 100);
  assert.match(short?.text ?? "", /^\{"a":\[12345678901234567890,1e400,-0\],"b":"x+…"\}$/);
  assert.equal(shortenJson(parse("1".repeat(500)), 100), undefined);
  assert.equal(shortenJson(["x"], 4), undefined);
});

/** Whether a shortened value says nothing that the whole did not. */
function isPart(short: JsonValue, whole: JsonValue): boolean {
  if (typeof short === "string" && typeof whole === "string") {
    return short === whole || (short.endsWith("…") && whole.startsWith(short.slice(0, -1)));
  }
  if (Array.isArray(short) && Array.isArray(whole)) {
    return short.every((item, at) => isPart(item, whole[at] as JsonValue));
  }
  if (typeof short !== "object" || typeof whole !== "object" || !short || !whole) {
    return stringifyJson(short) === stringifyJson(whole);
  }
  return Object.entries(short).every(([key, item]) =>
    isPart(item, (whole as Record<string, JsonValue>)[key] ?? null),
  );
}

test("any value becomes a part of itself within the bound", () => {
  const json = fc.json({ stringUnit: "binary", maxDepth: 6 }).map(parse);
  fc.assert(
    fc.property(json, fc.integer({ min: 5, max: 400 }), (value, maxBytes) => {
      const short = shortenJson(value, maxBytes);
      if (!short) return;
      assert.ok(Buffer.byteLength(short.text) <= maxBytes);
      assert.ok(isPart(parse(short.text), value));
      assert.equal(short.missing.length === 0, stringifyJson(parse(short.text)) === stringifyJson(value));
    }),
    { numRuns: 3000 },
  );
});

test("a text is cut where its JSON has room, at whole characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(60), (text, maxBytes) => {
      const length = fitting(text, maxBytes);
      const start = text.slice(0, length);
      assert.ok(Buffer.byteLength(JSON.stringify(start)) - 2 <= maxBytes);
      if (text.isWellFormed()) assert.ok(start.isWellFormed());
    }),
  );
  assert.equal(fitting("abcdef", 4), 4);
  assert.equal(fitting("ab\u{1f600}", 5), 2);
  assert.equal(fitting("<|im_end|>", 10), 5);
});

for (const [name, value] of [
  ["rows", Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}`, more: [1, 2, 3] }))],
  ["a dictionary", Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [`key ${id}`, id]))],
  ["one string", { a: "é\n".repeat(250_000) }],
  ["nested", [[[[Array(200_000).fill(1)]]]]],
] as const) {
  test(`time grows with the size: ${name}`, () => {
    const parsed = parse(JSON.stringify(value));
    const startedAt = performance.now();
    assert.ok(shortenJson(parsed, 16_384));
    const ms = performance.now() - startedAt;
    assert.ok(ms < 1_000, `${ms} ms`);
  });
}
