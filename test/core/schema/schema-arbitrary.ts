import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";

const NAMES = ["a", "b", "c"] as const;
const scalars = fc.constantFrom<JsonValue>(
  ...[
    null,
    true,
    false,
    0,
    1,
    -1.5,
    1e21,
    2n ** 60n,
    "",
    "1",
    "1.5",
    "true",
    "null",
    "a",
    "[1]",
    '{"a":"1"}',
    "[",
    "2n",
  ],
);

/** JSON values that schemas of `schemas` often nearly fit. */
export const values: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, "d"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
    tie("value").map(encode),
  ),
})).value;

/** Arguments as a model might send them. */
export const argumentsOf: fc.Arbitrary<JsonValue> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.dictionary(fc.constantFrom(...NAMES, "d"), values, { maxKeys: 4, noNullPrototype: true }),
  },
  { weight: 1, arbitrary: values },
);

const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom<JsonObject>(
    {},
    { $ref: "#/$defs/x" },
    { $ref: "#/$defs/y" },
    { const: 1 },
    { enum: [1, "a", true] },
  ),
  fc
    .constantFrom("string", "integer", "number", "boolean", "null", "array", "object")
    .map((type) => ({ type })),
  fc
    .subarray(["string", "integer", "boolean", "null", "array", "object"], { minLength: 1 })
    .map((type) => ({ type })),
  fc.constantFrom<JsonObject>(
    { minimum: 1 },
    { maxLength: 1 },
    { minItems: 1 },
    { uniqueItems: true },
    { pattern: "^1" },
  ),
);

const node: fc.Arbitrary<JsonObject> = fc.letrec<{ node: JsonObject }>((tie) => {
  const list = fc.array(tie("node"), { minLength: 1, maxLength: 3 });
  const properties = fc.dictionary(fc.constantFrom(...NAMES), tie("node"), {
    maxKeys: 3,
    noNullPrototype: true,
  });
  const required = fc.subarray([...NAMES]);
  return {
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.record({ type: fc.constant("object"), properties, required, additionalProperties: fc.boolean() }),
      fc.record({ type: fc.constant("array"), items: tie("node") }),
      fc.record({ prefixItems: list, items: fc.oneof(tie("node"), fc.boolean()) }),
      fc
        .constantFrom("anyOf", "oneOf", "allOf")
        .chain((keyword) => list.map((branches) => ({ [keyword]: branches }))),
      fc.record({
        patternProperties: fc.dictionary(fc.constant("^[ab]$"), tie("node"), { noNullPrototype: true }),
        propertyNames: leaf,
      }),
      fc.record({ if: tie("node"), else: tie("node") }),
      fc.record({ not: leaf, contains: tie("node") }, { requiredKeys: [] }),
    ),
  };
}).node;

/** Schemas of tool arguments that use most keywords; not every one of them can be satisfied. */
export const schemas: fc.Arbitrary<JsonObject> = fc
  .record({
    properties: fc.dictionary(fc.constantFrom(...NAMES), node, { maxKeys: 3, noNullPrototype: true }),
    required: fc.subarray([...NAMES], { maxLength: 1 }),
    x: node,
    y: node,
    extra: fc.oneof(
      fc.constant({}),
      fc.constant({ additionalProperties: true }),
      node.map((part) => ({ anyOf: [{}, part] })),
    ),
  })
  .map(({ properties, required, x, y, extra }) => ({
    type: "object",
    properties,
    required,
    // A target is entered only through a member or an element, so that no circle stays on one value.
    $defs: { x: { properties: { a: x } }, y: { type: "array", items: y } },
    ...extra,
  }));

function encode(value: JsonValue): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === "bigint" ? Number(member) : member,
  );
}
