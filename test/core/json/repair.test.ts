import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { repairJson } from "../../../src/core/json/repair.ts";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { sharedNames, sharedText, skipWithout } from "../schema/shared-files.ts";

const READ: readonly [text: string, value: JsonObject, repairs: string][] = [
  ['{"path": "a.txt",}', { path: "a.txt" }, "trailing_comma"],
  ['{"a": [1, [2,], {"b": 3,},],}', { a: [1, [2], { b: 3 }] }, "trailing_comma"],
  ['```json\n{"city":"paris"}\n```', { city: "paris" }, "code_fence"],
  ['```{"city":"paris"}```', { city: "paris" }, "code_fence"],
  ["```\n{}\n```", {}, "code_fence"],
  ['```json\n{"city":"paris"}', { city: "paris" }, "code_fence"],
  ['Sure:\n```json\n{"a":1}\n```\nDone.', { a: 1 }, "code_fence surrounding_text"],
  ['{"path": "a.txt"} I will read it now.', { path: "a.txt" }, "surrounding_text"],
  ['Sure, here is the call: {"a":1}', { a: 1 }, "surrounding_text"],
  ['I call the "edit" tool: {"a":1}', { a: 1 }, "surrounding_text"],
  ['Now “edit” it. {"a":1}', { a: 1 }, "surrounding_text"],
  ['edit({"a":1});', { a: 1 }, "surrounding_text"],
  ['<|channel|>commentary to=functions.edit <|message|>{"a":1}', { a: 1 }, "surrounding_text"],
  [
    "{'a': \"it's\", 'b': 'say \"hi\"', 'c': 'don\\'t', 'd': [True, False, None]}",
    { a: "it's", b: 'say "hi"', c: "don't", d: [true, false, null] },
    "single_quotes python_literal",
  ],
  ["Here's the call: {'a': 1}", { a: 1 }, "surrounding_text single_quotes"],
  ["{“path”: „a.txt“, ‘n’: ‘it is “so”’}", { path: "a.txt", n: "it is “so”" }, "smart_quotes"],
  ["{“title”: “it’s”}", { title: "it’s" }, "smart_quotes"],
  ['{key: "value", /* why */ "n": 1 // end\n}', { key: "value", n: 1 }, "unquoted_key comment"],
  ["{$a_1: 1, 城市: 2}", { $a_1: 1, 城市: 2 }, "unquoted_key"],
  ['{"a": 1, # it is\n "b": 2}', { a: 1, b: 2 }, "comment"],
  ['{"url": "http://x/#y", /* see [1] */ "n": "/*"}', { url: "http://x/#y", n: "/*" }, "comment"],
  ['{"t": "a\r\n\tb\u0000"}', { t: "a\r\n\tb\u0000" }, "raw_control_character"],
  ['\ufeff \n{"city": "Gdańsk"}\n', { city: "Gdańsk" }, "byte_order_mark"],
  ['{"id": 12345678901234567890, "e": 1E-2,}', { id: 12345678901234567890n, e: 0.01 }, "trailing_comma"],
  [
    '{"text": "Use ```js\\nx()\\n``` and True, \'x\',}",}',
    { text: "Use ```js\nx()\n``` and True, 'x',}" },
    "trailing_comma",
  ],
];

describe("repairJson reads what can only be read in one way", () => {
  for (const [text, value, repairs] of READ) {
    test(JSON.stringify(text), () =>
      assert.deepEqual(repairJson(text), { value, repairs: repairs.split(" ") }),
    );
  }

  test("an own key __proto__ sets no prototype", () => {
    const value = repairJson('{"__proto__": {"isAdmin": true},}')?.value ?? {};
    assert.deepEqual(Object.keys(value), ["__proto__"]);
    assert.equal(Reflect.get({}, "isAdmin"), undefined);
  });
});

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "a call that was cut off": [
    "{",
    '{"a":1',
    '{"a":[1,}',
    "{'a': 'b",
    "{“a”: 1",
    '{"a":1 /* }',
    '{"a":1 // }',
    "{a",
    "```json\n",
  ],
  "a quote inside a string": [
    '{"text": "The 1/2" wrench was, launched.", "source": "Tools"}',
    "{'text': 'it's'}",
    "{“text”: “he said “hi””}",
    "{‘text’: ‘it’s’}",
    '{"code": "f("", x)"}',
    '{"text": "a"} and "b"}',
  ],
  "quotes that do not pair": [
    '{“a": "x", “b”: 1}',
    '{“k”: “a", "b": "c”}',
    "{‘k’: ‘a', 'b': 'c’}",
    "{`a`: 1}",
  ],
  "an escape that is none, or one that languages read differently": [
    '{"path": "E:\\Chat",}',
    "{'a': '\\x41'}",
    "{'a': '\\/'}",
    "{“a”: “\\””}",
    "{'a': 'b\\\nc'}",
  ],
  "several objects, or a list of them": [
    '{"a":1}{"a":1}',
    '{"a":1}\n{"b":2}',
    "[{'a':1}]",
    '{"a":1}, {"b":2}',
    "{'a':1}]",
  ],
  "a root that is no object": ["['a']", "True", "'a'", "[1,]", "1,", ""],
  "numbers that are none": [
    "{'a': 007}",
    "{'a': +1}",
    "{'a': .5}",
    "{'a': 1.}",
    "{'a': 1_000}",
    "{'a': 0x1}",
    "{'a': 1 2}",
    "{'a': 1/**/2}",
  ],
  "other words": [
    "{'a': NaN}",
    "{'a': undefined}",
    "{'a': yes}",
    "{'a': TRUE}",
    "{'a': b}",
    "{'a': u'b'}",
    "{'a': 'b' 'c'}",
  ],
  "keys that are no simple names": [
    "{True: 1}",
    "{null: 1}",
    "{1: 2}",
    "{a-b: 1}",
    "{a b: 1}",
    "{[1]: 2}",
    "['a': 1]",
  ],
  "commas that stand for nothing, or are missing": [
    "{,}",
    "{'a': [,]}",
    "{'a': 1,,}",
    "{'a':,}",
    "{'a': 1 'b': 2}",
    "{'a'}",
    "{'a',}",
  ],
  "brackets that do not match": ["{'a': [1}", "{'a': [1}]}", "{'a': 1]"],
  "a remark that may be the rest of a string": [
    '{"a": 1, // "b": 2,\n "c": 3}',
    "{'a': 'b', # it's\n 'c': 1}",
    "{'a': 'b'} it's",
    '{"a": 1} "b"',
    '{"a": 1, # one\u2028 more\n "b": 2}',
  ],
  "text that makes the object the value of something": [
    'filter: {"a":1}',
    'path: x\nfilter: {"a":1}',
    'a: 1, my filter: {"a":1}',
    '"filter": {"a":1}',
    '"b" {"a":1}',
    '"b": "c" and {"a":1}',
    'Set "filter": {"a":1}',
    'It says "so {"a":1}',
    "'my filter': {\"a\":1}",
    'edit(filter={"a":1})',
    'edit(1, {"a":1})',
    '<parameter=filter>\n{"a":1}\n</parameter>',
    '{"a":1}, 2',
  ],
  "braces in prose": ["Put {} here", "Put {name} here"],
  "what stands for nothing in JSON": [
    "\u00a0",
    '{"a":\u00a01}',
    '{\\"a\\": 1}',
    "{&quot;a&quot;: 1}",
    "{...}",
    "{'a': (1, 2)}",
  ],
};

for (const [reason, texts] of Object.entries(REFUSED)) {
  test(`repairJson refuses ${reason}`, () => {
    for (const text of texts) assert.equal(repairJson(text), undefined, text);
  });
}

test("the depth of 64 and the length of 1 MiB hold for a repair too", () => {
  const nested = (depth: number) => `{'a':${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  assert.ok(repairJson(nested(64)));
  assert.equal(repairJson(nested(65)), undefined);
  const long = (length: number) => `{'a':'${"x".repeat(length - 8)}'}`;
  assert.ok(repairJson(long(1_048_576)));
  assert.equal(repairJson(long(1_048_577)), undefined);
});

test("1 MiB of anything is read in linear time", () => {
  const units = [
    '"',
    "'",
    "“",
    "[",
    "{",
    ",",
    '{"a":',
    "{'a':'",
    "/*",
    "/**/",
    "#",
    "# \n",
    "`",
    "\\",
    "\n",
    "True ",
    "a:\n",
    "= <",
    "7",
  ];
  const start = performance.now();
  for (const unit of units) {
    for (const head of ["", "{", '{"a":"']) {
      for (const tail of ["\n}", '{"a":1,}'])
        repairJson(head + unit.repeat((1_048_000 / unit.length) | 0) + tail);
    }
  }
  const each = (performance.now() - start) / (units.length * 6);
  assert.ok(each < 1_000, `${each} ms each`);
});

describe("the cases of broken arguments", () => {
  const names = sharedNames("cases");
  test("are repaired, or not, as the collection says", {
    skip: skipWithout(names, "cases"),
  }, (t: TestContext) => {
    let played = 0;
    for (const name of names ?? []) {
      if (!/^1\d\d-.*\.json$/.test(name)) continue;
      const { arguments_text: text, expect } = JSON.parse(sharedText(`cases/${name}`) ?? "");
      if (typeof text !== "string") continue;
      assert.deepEqual(repairJson(text)?.value, expect.if_repaired, name);
      played++;
    }
    t.diagnostic(`${played} cases`);
    assert.ok(played > 15);
  });
});
