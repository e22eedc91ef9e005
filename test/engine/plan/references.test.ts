import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";
import { fillIn, findReferences } from "../../../src/engine/plan/references.ts";

function parse(text: string): JsonValue {
  const parser = new JsonParser();
  parser.push(text);
  parser.end();
  return parser.value as JsonValue;
}

for (const [text, expected] of [
  ["{{get_city.data.name}}", ["get_city", 0, ["data", "name"]]],
  ["{{ get_city.data.name }}", ["get_city", 0, ["data", "name"]]],
  ["{{get_city[1].data.name}}", ["get_city", 1, ["data", "name"]]],
  ["{{a-b.data[2].x.y}}", ["a-b", 0, ["data", 2, "x", "y"]]],
  ['{{a.data["two words"][0]}}', ["a", 0, ["data", "two words", 0]]],
  ["{{a.data.城市}}", ["a", 0, ["data", "城市"]]],
  ["{{a.data}}", ["a", 0, ["data"]]],
  ["{{a.success}}", ["a", 0, ["success"]]],
] as const) {
  test(`${text} is a reference`, () => {
    const [found, ...more] = findReferences({ p: [text] });
    assert.deepEqual(more, []);
    const { name, index, path } = found?.reference ?? {};
    assert.deepEqual([name, index, path], expected);
    assert.deepEqual([found?.at, found?.whole], [["p", 0], true]);
  });
}

for (const text of [
  "{{name}}",
  "{get_city.data.name}",
  "{{get_city.data.}}",
  "{{get city.data.name}}",
  "{{get_city.data.name}",
  "{{#each items}}{{this}}{{/each}}",
  "{{}}",
  "{{a..b}}",
  `{{${"a".repeat(65)}.data}}`,
]) {
  test(`${text.slice(0, 40)} is text`, () => assert.deepEqual(findReferences(text), []));
}

test("references inside a longer text are told apart from one that is all there is", () => {
  const found = findReferences("from {{a.data.x}} to {{b.data.y}}");
  assert.deepEqual(
    found.map(({ reference, whole }) => [reference.name, whole]),
    [
      ["a", false],
      ["b", false],
    ],
  );
});

test("a whole value keeps its type and every digit, inside a text it is text", () => {
  const data = parse('{"n":12345678901234567890,"f":1e400,"o":{"a":[1]},"s":"x","z":null}') as Record<
    string,
    JsonValue
  >;
  const spelling = { f: "1e400" } as Record<string, string>;
  const filled = fillIn(
    {
      n: "{{t.data.n}}",
      f: "{{t.data.f}}",
      o: " {{t.data.o}} ",
      text: "n={{t.data.n}} f={{t.data.f}} o={{t.data.o}} s={{t.data.s}} z={{t.data.z}}",
      kept: ["{{name}}", 1, { deep: "{{t.data.s}}" }],
    },
    ({ path }) => {
      const name = String(path[1]);
      return { value: data[name] ?? null, spelling: spelling[name] };
    },
  );
  assert.equal(
    stringifyJson(filled),
    '{"n":12345678901234567890,"f":1e400,"o":{"a":[1]},' +
      '"text":"n=12345678901234567890 f=1e400 o={\\"a\\":[1]} s=x z=null","kept":["{{name}}",1,{"deep":"x"}]}',
  );
});

test("numbers beside a reference keep their spelling", () => {
  const value = parse('{"a":"{{t.data}}","b":1e400,"c":[-0]}');
  const filled = fillIn(value, () => ({ value: 1 }));
  assert.equal(stringifyJson(filled), '{"a":1,"b":1e400,"c":[-0]}');
});

test("a failed call leaves null as a whole value and nothing inside a text", () => {
  assert.deepEqual(
    fillIn({ a: "{{t.data}}", b: "<{{t.data}}>" }, () => "failed"),
    { a: null, b: "<>" },
  );
});

test("what is put in is not searched for references again", () => {
  const filled = fillIn({ a: "{{t.data}}", b: "x{{t.data}}" }, () => ({ value: "{{t.data}}" }));
  assert.deepEqual(filled, { a: "{{t.data}}", b: "x{{t.data}}" });
});

test("a value without references comes back itself, whatever it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = value as JsonValue;
      if (findReferences(json).length > 0) return;
      assert.ok(
        Object.is(
          fillIn(json, () => "failed"),
          json,
        ),
      );
    }),
  );
});

test("names with __proto__ stay ordinary", () => {
  const filled = fillIn(parse('{"__proto__":"{{t.data}}","b":"{{t.data.__proto__}}"}'), () => ({ value: 1 }));
  assert.equal(stringifyJson(filled), '{"__proto__":1,"b":1}');
});

test("a text full of braces costs no more than its length", () => {
  const text = "{{a.".repeat(200_000) + "{{".repeat(200_000);
  const from = performance.now();
  findReferences(text);
  assert.ok(performance.now() - from < 1_000);
});
