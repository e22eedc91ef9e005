import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, JsonPath, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { explain } from "../../../src/core/schema/message.ts";

const SCHEMA = compileSchema({
  type: "object",
  properties: {
    age: { type: "integer" },
    unit: { enum: ["c", "f"] },
    stops: { type: "array", items: { $ref: "#/$defs/stop" } },
    pair: { type: "array", prefixItems: [{ type: "string" }, { type: "boolean" }], items: false },
    when: { anyOf: [{ type: "integer" }, { type: "object", properties: { day: { type: "integer" } } }] },
    shape: {
      oneOf: [
        { type: "object", properties: { kind: { const: "dot" }, size: { type: "integer" } } },
        { type: "object", properties: { kind: { const: "text" }, size: { type: "string" } } },
      ],
    },
    tree: { $ref: "#/$defs/tree" },
  },
  required: ["age"],
  $defs: {
    stop: {
      type: "object",
      properties: { city: { type: "string" }, nights: { type: "integer" } },
      required: ["city"],
      additionalProperties: false,
    },
    tree: {
      type: "object",
      properties: { n: { type: "integer" }, kids: { type: "array", items: { $ref: "#/$defs/tree" } } },
    },
  },
});

const said = (path: JsonPath, value: JsonValue): string | undefined => {
  const problem = SCHEMA.hopeless(path, value, { left: 10_000 });
  return problem && explain(problem, "en");
};

for (const [path, value, words] of [
  [["age"], "abc", 'Parameter "age" must be an integer, but you sent the string "abc"'],
  [["age"], 1.5, '"age" must be an integer'],
  [["age"], null, '"age"'],
  [["unit"], "k", '"unit" must be one of'],
  [["agee"], 1, '"agee"'],
  [["stops"], 5, '"stops"'],
  [["stops", 2, "nights"], "two", '"stops[2].nights" must be an integer'],
  [["stops", 0], { nights: 1 }, '"stops[0].city"'],
  [["stops", 0, "town"], "Rome", '"stops[0].town" is not known'],
  [["pair", 1], "maybe", '"pair[1]" must be a boolean'],
  [["pair", 2], "x", '"pair[2]"'],
  [["when"], "soon", '"when"'],
  [["when", "day"], "soon", '"when.day" must be an integer'],
  [["shape"], { kind: "line", size: 1 }, '"shape.kind" must be one of'],
  [["shape"], { kind: "dot", size: "big" }, '"shape'],
  [["tree", "kids", 0, "kids", 3, "n"], "x", '"tree.kids[0].kids[3].n" must be an integer'],
] as [JsonPath, JsonValue, string][]) {
  test(`${JSON.stringify(value)} at ${path.join(".")} is hopeless`, () => {
    assert.ok(said(path, value)?.includes(words), said(path, value));
    assert.equal(said(path, value), said(path, value));
  });
}

for (const [path, value] of [
  [["age"], "7"],
  [["age"], 7],
  [["unit"], null],
  [["stops"], '[{"city":"Rome"}]'],
  [["stops"], { city: "Rome" }],
  [["stops", "city"], "Rome"],
  [["stops", 0], '{"city":"Rome","nights":"2"}'],
  [["when"], "12"],
  [["when"], '{"day":"1"}'],
  [["shape", "size"], "big"],
  [["shape"], { kind: "dot", size: "3" }],
  [["tree", "kids", 0, "kids", "n"], "4"],
] as [JsonPath, JsonValue][]) {
  test(`${JSON.stringify(value)} at ${path.join(".")} may still fit`, () => {
    assert.equal(said(path, value), undefined);
  });
}

test("an open schema takes any name, and one that only names a pattern takes what matches it", () => {
  const open = compileSchema({ type: "object", properties: { a: {} }, additionalProperties: true });
  assert.equal(open.hopeless(["b"], 1, { left: 10_000 }), undefined);
  const named = compileSchema({ type: "object", properties: { a: {} }, patternProperties: { "^x_": {} } });
  assert.equal(named.hopeless(["x_b"], 1, { left: 10_000 }), undefined);
  assert.ok(named.hopeless(["b"], 1, { left: 10_000 }));
});

test("a value that would take long to judge counts as possible", () => {
  const branches = Array.from({ length: 90 }, (_, at) => ({
    type: "object",
    properties: { a: { const: at } },
  }));
  const wide: JsonObject = {
    type: "object",
    properties: { list: { type: "array", items: { anyOf: branches } } },
  };
  const list = Array.from({ length: 900 }, () => ({ a: -1 }));
  assert.equal(compileSchema(wide).hopeless(["list"], list, { left: 10_000 })?.kind, "enum");
  const possible = Array.from({ length: 900 }, (_, at) => ({ a: at === 899 ? -1 : 89 }));
  assert.equal(compileSchema(wide).hopeless(["list"], possible, { left: 10_000 }), undefined);
});

test("the work of all looks at one call is bounded: after it nothing more is said", () => {
  const budget = { left: 3 };
  assert.ok(SCHEMA.hopeless(["age"], "abc", budget));
  assert.equal(SCHEMA.hopeless(["age"], "abc", budget) && SCHEMA.hopeless(["age"], "abc", budget), undefined);
  assert.ok(budget.left < 3);
});
