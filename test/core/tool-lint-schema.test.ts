import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { lintSchema } from "../../src/core/tool-lint-schema.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});
const lint = (properties: JsonObject, more: JsonObject = {}) =>
  lintSchema(object(properties, more)).map(({ reason, path, suggestion }) => [
    reason,
    path.replace("parameters.properties.", ""),
    suggestion,
  ]);

test("no parameters, and ones that are described, typed and flat, have no notes", () => {
  assert.deepEqual(lintSchema(undefined), []);
  assert.deepEqual(lint({}), []);
  assert.deepEqual(
    lint({
      city: { type: "string", description: "City" },
      unit: { enum: ["c", "f"], default: "c", description: "Unit" },
      order: { $ref: "#/$defs/order" },
      kind: { const: "a" },
    }),
    [],
  );
});

test("a parameter without a type is noted, with the type that its keywords or its name suggest", () => {
  const typed = (name: string, schema: JsonObject | true) =>
    lint({ [name]: schema === true ? schema : { ...schema, description: "d" } }).flatMap(
      ([reason, , suggestion]) => (reason === "type_missing" ? [suggestion] : []),
    );
  assert.deepEqual(typed("x", { minimum: 1 }), ['"type": "number"']);
  assert.deepEqual(typed("x", { format: "date" }), ['"type": "string"']);
  assert.deepEqual(typed("x", { items: { type: "string" } }), ['"type": "array"']);
  assert.deepEqual(typed("is_open", {}), ['"type": "boolean"']);
  assert.deepEqual(typed("maxCount", {}), ['"type": "integer"']);
  assert.deepEqual(typed("latitude", true), ['"type": "number"']);
  assert.deepEqual(typed("city", {}), ['"type": "string"']);
  assert.deepEqual(typed("tags", { type: "array" }), ['"items": { "type": "string" }']);
  assert.deepEqual(typed("x", { anyOf: [{ type: "string" }, { type: "null" }] }), []);
});

test("a parameter without a description is noted wherever it stands, with a description to start from", () => {
  const nested = object({ start_date: { type: "string", format: "date" } });
  assert.deepEqual(
    lint(
      {
        unit: { enum: ["c", "f"] },
        is_new: { type: "boolean" },
        days: { type: "integer" },
        list: { type: "array", description: "d", items: nested },
        either: { description: "d", anyOf: [nested, { type: "null" }] },
      },
      { required: ["unit"], $defs: { a: nested } },
    ),
    [
      ["description_missing", "unit", '"description": "The unit: c, f."'],
      ["description_missing", "is_new", '"description": "Whether is new."'],
      ["description_missing", "days", '"description": "The days, with its unit and range."'],
      ...["list.items", "either.anyOf.0", "parameters.$defs.a"].map((at) => [
        "description_missing",
        at === "parameters.$defs.a" ? `${at}.properties.start_date` : `${at}.properties.start_date`,
        '"description": "The start date, for example 2026-03-31."',
      ]),
    ],
  );
});

test("an optional enumeration without a default is noted, a required one is not", () => {
  const unit = { enum: ["celsius", "fahrenheit"], description: "d" };
  assert.deepEqual(lint({ unit }), [["enum_without_default", "unit", '"default": "celsius"']]);
  assert.deepEqual(lint({ unit }, { required: ["unit"] }), []);
  assert.deepEqual(lint({ unit: { ...unit, enum: ["celsius"] } }), []);
});

test("parameters below three levels are noted once, with where they could stand", () => {
  const d = { description: "d" };
  const city = { type: "string", ...d };
  const address = { ...object({ city, zip: city }), ...d };
  const customer = { ...object({ address }), ...d };
  assert.deepEqual(lint({ customer }), []);
  assert.deepEqual(lint({ order: { ...object({ customer }), ...d } }), [
    [
      "nesting_deep",
      "order.properties.customer.properties.address.properties.city",
      '"address_city" directly in "order.customer"',
    ],
  ]);
});

test("levels count through references and lists too, and a schema within itself has no end", () => {
  const deep = (properties: JsonObject, more: JsonObject) =>
    lint(properties, more).filter(([reason]) => reason === "nesting_deep");
  const d = { description: "d" };
  const $defs = {
    a: { ...object({ b: { ...object({ c: { $ref: "#/$defs/d" } }), ...d } }), ...d },
    d: { ...object({ e: { type: "string", ...d } }), ...d },
  };
  assert.deepEqual(deep({ list: { type: "array", items: { $ref: "#/$defs/a" } } }, { $defs }), [
    [
      "nesting_deep",
      "list.items.$ref.properties.b.properties.c.$ref.properties.e",
      '"c_e" directly in "list.b"',
    ],
  ]);
  assert.deepEqual(deep({ x: { $ref: "#/$defs/d" } }, { $defs }), []);
  const node = { ...object({ next: { $ref: "#/$defs/node" } }), ...d };
  assert.equal(deep({ first: { $ref: "#/$defs/node" } }, { $defs: { node } }).length, 1);
});

test("parameters in every branch that may hold are looked at", () => {
  const bare = object({ orderId: { type: "string" } });
  const reasons = lintSchema({ type: "object", properties: {}, allOf: [bare], if: {}, else: bare }).map(
    ({ reason, path }) => [reason, path],
  );
  assert.deepEqual(reasons, [
    ["name_not_snake_case", "parameters.else.properties.orderId"],
    ["description_missing", "parameters.else.properties.orderId"],
    ["name_not_snake_case", "parameters.allOf.0.properties.orderId"],
    ["description_missing", "parameters.allOf.0.properties.orderId"],
  ]);
});

for (const [value, schema, suggestion] of [
  ["CELSIUS", { type: "string", enum: ["celsius"] }, '"default": "celsius"'],
  ["none", { enum: ["a", "b"] }, 'leave "default" out'],
] as [JsonValue, JsonObject, string][]) {
  test(`the default ${JSON.stringify(value)} of ${JSON.stringify(schema)} is noted, with what is meant`, () => {
    assert.deepEqual(lint({ v: { ...schema, default: value, description: "d", items: {} } }), [
      ["default_invalid", "v.default", suggestion],
    ]);
  });
}

test("a default that fits, or that says there is none, is not noted", () => {
  for (const schema of [
    { type: "integer", default: 3 },
    { type: ["string", "null"], default: "x" },
    { type: "string", default: null },
    { enum: [1, "a"], default: 1 },
  ]) {
    assert.deepEqual(lint({ v: { ...schema, description: "d" } }), []);
  }
});

test("more than six required parameters are noted, with those that could be optional", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string", description: "d" }]));
  assert.deepEqual(lint(properties, { required: names.slice(0, 6) }), []);
  assert.deepEqual(lint(properties, { required: names }), [
    ["required_many", "parameters.required", "make optional, with a default: g, h"],
  ]);
  const inner = { ...object(properties, { required: names }), description: "d" };
  assert.deepEqual(lint({ inner }), [
    ["required_many", "inner.required", "make optional, with a default: g, h"],
  ]);
});

test("parameter names that are not snake_case are noted, with the name that would be", () => {
  const schema = { type: "string", description: "d" };
  assert.deepEqual(
    lint({ orderId: schema, "zip-code": schema, HTTPUrl: schema, 城市: schema, "2nd": schema }),
    [
      ["name_not_snake_case", "2nd", "param_2nd"],
      ["name_not_snake_case", "orderId", "order_id"],
      ["name_not_snake_case", "zip-code", "zip_code"],
      ["name_not_snake_case", "HTTPUrl", "http_url"],
      ["name_not_snake_case", "城市", 'an English name in snake_case, with "城市" in its description'],
    ].sort(([, a = ""], [, b = ""]) => order.indexOf(a) - order.indexOf(b)),
  );
});

const order = ["orderId", "zip-code", "HTTPUrl", "城市", "2nd"];

test("a schema of more than 4 KiB is noted, with what takes most of it", () => {
  const big = { type: "string", description: "d".repeat(4_000) };
  const [[reason, path, suggestion] = []] = lint({ big, small: { type: "string", description: "d" } });
  assert.deepEqual([reason, path], ["schema_long", "parameters"]);
  assert.match(suggestion ?? "", /^shorten "big", which takes 40\d\d bytes/);
  assert.deepEqual(lint({ big: { ...big, description: "d".repeat(3_900) } }), []);
});

test("a string with a pattern and no example is noted, with an example that matches", () => {
  const pattern = "^[A-Z]{2}-\\d{4}$";
  const schema = { type: "string", description: "d", pattern };
  assert.deepEqual(lint({ id: schema }), [["example_missing", "id", '"examples": ["AA-1111"]']]);
  for (const shown of [
    { examples: ["AB-1234"] },
    { default: "AB-1234" },
    { enum: ["AB-1234"], default: "AB-1234" },
  ]) {
    assert.deepEqual(lint({ id: { ...schema, ...shown } }), []);
  }
});
