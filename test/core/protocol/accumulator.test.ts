import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallPiece } from "../../support/chunks.ts";
import { brief, gather, gatherDeltas, newAccumulator } from "./gather.ts";

const head = (index: number | null, id: string | null, name: string | null, args = "") => ({
  index,
  id,
  name,
  args,
});
const more = (index: number | null, args: string) => ({ index, args });

for (const [name, deltas, expected] of [
  [
    "fragments of two calls alternate by index",
    [
      [head(0, "a", "f"), head(1, "b", "g")],
      more(1, '{"q"'),
      more(0, '{"c'),
      [more(0, '":1'), more(1, ":2")],
      more(1, "}"),
      more(0, "}"),
    ],
    [
      ["a", "f", '{"c":1}'],
      ["b", "g", '{"q":2}'],
    ],
  ],
  [
    "the index is the place of the tool, the same for two calls",
    [head(23, "a", "f"), more(23, '{"q":1}'), head(23, "b", "f"), more(23, '{"q":2}')],
    [
      ["a", "f", '{"q":1}'],
      ["b", "f", '{"q":2}'],
    ],
  ],
  [
    "the index differs between the head and the arguments",
    [head(1, "a", "f"), more(0, '{"c":'), more(0, "1}")],
    [["a", "f", '{"c":1}']],
  ],
  ["the index is -1", [head(-1, "a", "f", '{"c":1}')], [["a", "f", '{"c":1}']]],
  ["the index is huge", [head(4_294_967_295, "a", "f"), more(4_294_967_295, "{}")], [["a", "f", "{}"]]],
  [
    "the index is missing on continuations",
    [head(null, "a", "f"), more(null, '{"c'), { args: '":1' }, more(null, "}")],
    [["a", "f", '{"c":1}']],
  ],
  [
    "the index is missing and calls follow each other",
    [head(null, "a", "f"), more(null, "{}"), head(null, "b", "g"), more(null, '{"x":1}')],
    [
      ["a", "f", "{}"],
      ["b", "g", '{"x":1}'],
    ],
  ],
  [
    "the id is empty on continuations",
    [
      head(0, "a", "f"),
      { index: 0, id: "", name: null, args: "{}" },
      head(0, "b", "g"),
      { index: 0, id: "", args: "{}" },
    ],
    [
      ["a", "f", "{}"],
      ["b", "g", "{}"],
    ],
  ],
  [
    "the id is repeated on every piece",
    [head(0, "a", "f"), head(0, "a", null, '{"c":'), head(0, "a", null, "1}")],
    [["a", "f", '{"c":1}']],
  ],
  [
    "the id changes within a call",
    [head(0, "a", "f"), head(0, "z", null, '{"c":'), head(0, "z", null, "1}")],
    [["a", "f", '{"c":1}']],
  ],
  [
    "the id comes late",
    [{ index: 0, name: "f" }, { index: 0, id: "a", args: '{"c":' }, more(0, "1}")],
    [["new1", "f", '{"c":1}']],
  ],
  ["there is no id", [head(0, null, "f"), more(0, "{}")], [["new1", "f", "{}"]]],
  [
    "two indexes have one id",
    [head(0, "a", "f", "{}"), head(1, "a", "f", '{"x":1}')],
    [
      ["a", "f", "{}"],
      ["new1", "f", '{"x":1}'],
    ],
  ],
  [
    "one index, no id, a whole object each time",
    [head(0, null, "f", '{"p":1}'), head(0, null, "f", '{"p":2}'), head(0, null, "f", '{"p":3}')],
    [
      ["new1", "f", '{"p":1}'],
      ["new2", "f", '{"p":2}'],
      ["new3", "f", '{"p":3}'],
    ],
  ],
  [
    "one index, no id, another name after whole arguments",
    [head(0, null, "f"), more(0, "{}"), head(0, null, "g"), more(0, '{"x":1}')],
    [
      ["new1", "f", "{}"],
      ["new2", "g", '{"x":1}'],
    ],
  ],
  [
    "the id of a second call comes before its name",
    [head(0, "a", "f", "{}"), { index: 1, id: "b" }, { index: 1, name: "g" }, more(1, '{"x":1}')],
    [
      ["a", "f", "{}"],
      ["b", "g", '{"x":1}'],
    ],
  ],
  [
    "the id comes before the name and no index",
    [{ id: "a" }, { name: "f" }, { args: "{}" }],
    [["a", "f", "{}"]],
  ],
  [
    "one delta has two calls of one id and no index",
    [[head(null, "a", "f", "{}"), head(null, "a", "g", '{"x":1}')]],
    [
      ["a", "f", "{}"],
      ["new1", "g", '{"x":1}'],
    ],
  ],
  [
    "one delta has two calls of one name, no id and no index",
    [[head(null, null, "f", '{"x":1}'), head(null, null, "f", '{"x":1}')]],
    [
      ["new1", "f", '{"x":1}'],
      ["new2", "f", '{"x":1}'],
    ],
  ],
] as [string, readonly (CallPiece | readonly CallPiece[])[], string[][]][]) {
  test(`calls are told apart where ${name}`, () => assert.deepEqual(brief(gather(...deltas)), expected));
}

for (const [name, pieces, expected] of [
  ["comes in pieces", ["edit_ex", "isting_", "file"], "edit_existing_file"],
  ["is repeated", ["f", "f", "f"], "f"],
  ["is sent as it grows", ["get", "get_we", "get_weather"], "get_weather"],
  ["is empty at first", ["", "f"], "f"],
] as const) {
  test(`a name that ${name} is put together until the arguments begin`, () => {
    const heads = pieces.map((piece, place) => head(0, place === 0 ? "a" : null, piece));
    assert.deepEqual(brief(gather(...heads, more(0, "{"), head(0, null, "late"), more(0, "}"))), [
      ["a", expected, "{}"],
    ]);
  });
}

test("a name may come with the last arguments when none came before", () => {
  assert.deepEqual(brief(gather(head(0, "a", ""), more(0, '{"c'), head(0, null, "f", '":1}'))), [
    ["a", "f", '{"c":1}'],
  ]);
});

for (const [name, pieces, raw, reading] of [
  [
    "are appended",
    ['{"x":', '{"x":', '{"y":1}', '},"s":"', "ab", "ab", '"}'],
    '{"x":{"x":{"y":1}},"s":"abab"}',
    "plain",
  ],
  [
    "come as they grow",
    ['{"q"', '{"q": "lake', '{"q": "lake"}', '{"q": "lake"}'],
    '{"q": "lake"}',
    "snapshot",
  ],
  ["begin with an empty object", ["{}", "", '{"c": "B', 'o"}'], '{"c": "Bo"}', "placeholder"],
  ["are said again at the end", ['{"t":"b ', 'g"}', '{"t":"b g"}'], '{"t":"b g"}', "replay"],
  ["are two objects", ['{"a":1}', '{"b":2}'], '{"a":1}{"b":2}', "plain"],
  ["are cut off", ['{"a":', '"x'], '{"a":"x', "plain"],
  ["grow and are cut off", ['{"a"', '{"a":1'], '{"a"{"a":1', "plain"],
  ["are an array said twice", ["[1]", "[1]"], "[1]", "replay"],
  ["are no object behind an empty one", ["{}", "[1]"], "{}[1]", "plain"],
  ["are missing", [""], "", "plain"],
  ["are white space", [" ", "\n"], " \n", "plain"],
  ["open with a brace in the head", ["{", '"a":"', "dev", '"}'], '{"a":"dev"}', "plain"],
] as const) {
  test(`arguments that ${name} are read ${reading}`, () => {
    const [call, other] = gather(head(0, "a", "f"), ...pieces.map((piece) => more(0, piece)));
    assert.deepEqual([call?.raw, call?.reading, other], [raw, reading, undefined]);
  });
}

test("arguments as a value are spelled out once; null is none", () => {
  const args = (value: unknown) => gather({ index: 0, id: "a", name: "f", args: value })[0]?.raw;
  assert.deepEqual(
    [args({ q: "x" }), args([1]), args(7), args(null), args(undefined)],
    ['{"q":"x"}', "[1]", "7", "", ""],
  );
});

test("a function_call is a call without an id", () => {
  const calls = gatherDeltas([
    { function_call: { name: "f", arguments: "" } },
    { function_call: { arguments: '{"c":' } },
    { function_call: { name: null, arguments: "1}" } },
    { function_call: null },
  ]);
  assert.deepEqual(brief(calls), [["new1", "f", '{"c":1}']]);
});

test("a custom call has free text, which no reading changes", () => {
  const calls = gatherDeltas([
    { tool_calls: [{ index: 0, id: "a", type: "custom", custom: { name: "sql", input: "{}" } }] },
    { tool_calls: [{ index: 0, custom: { input: "{}" } }] },
  ]);
  assert.deepEqual(
    calls.map(({ kind, name, raw, reading }) => [kind, name, raw, reading]),
    [["custom", "sql", "{}{}", "plain"]],
  );
});

test("members that nobody knows stay with their call", () => {
  const calls = gatherDeltas([
    {
      tool_calls: [{ index: 0, id: "a", function: { name: "f" }, extra_content: { s: "1" }, nothing: null }],
    },
    { tool_calls: [{ index: 1, id: "b", function: { name: "g", arguments: "{}" } }] },
    { tool_calls: [{ index: 0, function: { arguments: "{}" }, thought_signature: "t" }] },
  ]);
  assert.deepEqual(
    calls.map(({ extra }) => extra),
    [{ extra_content: { s: "1" }, thought_signature: "t" }, undefined],
  );
});

test("entries that are no objects, and members of other types, are passed over", () => {
  const calls = gatherDeltas([
    { tool_calls: [null, 1, "x", [], { index: "0", id: 7, function: { name: {}, arguments: "{}" } }] },
    { tool_calls: "no", function_call: "no" },
    { tool_calls: [{ index: 0.5, function: null }] },
  ]);
  assert.deepEqual(brief(calls), [["new1", "", "{}"]]);
});

test("text beyond the limit is not kept, and the call says so", () => {
  const accumulator = newAccumulator(10);
  const push = (text: string) => ({
    tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: text } }],
  });
  const [call] = gatherDeltas([push('{"a":"'), push("x".repeat(1_000)), push('"}')], accumulator);
  assert.deepEqual([call?.raw, call?.tooLong], [`{"a":"xxxx`, true]);
  const [exact] = gatherDeltas([push('{"a":"xy"}')], newAccumulator(10));
  assert.deepEqual([exact?.raw, exact?.tooLong], ['{"a":"xy"}', false]);
});

test("more than 128 calls are refused", () => {
  const calls = (count: number) =>
    Array.from({ length: count }, (_, index) => head(index, `c${index}`, "f", "{}"));
  assert.equal(gather(...calls(128)).length, 128);
  assert.throws(() => gather(...calls(129)), RangeError);
});
