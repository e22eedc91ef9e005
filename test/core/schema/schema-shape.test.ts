import assert from "node:assert/strict";
import { test } from "node:test";
import { ARRAY, BOOLEAN, INTEGER, NULL, OBJECT, STRING } from "../../../src/core/schema/json-types.ts";
import { SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";
import { canBecome, SchemaShape, typesText } from "../../../src/core/schema/schema-shape.ts";

const NODE = {
  type: "object",
  properties: {
    name: { type: "string" },
    next: { $ref: "#/$defs/node" },
    list: { type: "array", items: { type: "object", properties: { id: { type: "integer" } } } },
    pair: { prefixItems: [{ type: "string" }, { type: "integer" }], items: false },
    any: {},
    map: { type: "object", additionalProperties: { type: "boolean" } },
    either: { anyOf: [{ type: "string" }, { type: "object", properties: { x: { type: "null" } } }] },
  },
  patternProperties: { "^x-": { type: "integer" } },
};
const shape = new SchemaShape({ ...NODE, $defs: { node: NODE } });

const said = (path: (string | number)[]) => {
  const place = shape.at(path);
  return "types" in place ? typesText(place.types) : `no ${place.missing} of ${place.names.join()}`;
};

for (const [path, expected] of [
  [[], "object"],
  [["name"], "string"],
  [["next", "next", "name"], "string"],
  [["list"], "array"],
  [["list", 3, "id"], "integer"],
  [["list", 3, "no"], "no no of id"],
  [["pair", 1], "integer"],
  [["pair", 2], "no 2 of "],
  [["any", "thing", 0], "anything"],
  [["map", "key"], "boolean"],
  [["either"], "object or string"],
  [["either", "x"], "null"],
  [["x-1"], "integer"],
  [["y"], "no y of name,next,list,pair,any,map,either"],
  [["name", "length"], "no length of "],
  [["__proto__"], "no __proto__ of name,next,list,pair,any,map,either"],
] as const) {
  test(`at ${JSON.stringify(path)}: ${expected}`, () => assert.equal(said([...path]), expected));
}

test("a document that no parameters could have is refused alike", () => {
  assert.throws(() => new SchemaShape({ $ref: "https://elsewhere.example/x" }), SchemaRejected);
});

test("a value can become what it is, what coercion makes of it, and an element", () => {
  assert.ok(canBecome(INTEGER, INTEGER | STRING));
  assert.ok(canBecome(STRING, BOOLEAN), "text may spell it");
  assert.ok(canBecome(OBJECT, ARRAY), "a single value becomes an array of one");
  assert.ok(canBecome(NULL, STRING), "null becomes absent");
  assert.ok(!canBecome(INTEGER, STRING));
  assert.ok(!canBecome(OBJECT, STRING | INTEGER));
  assert.ok(!canBecome(BOOLEAN, INTEGER));
});
