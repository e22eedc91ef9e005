import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { breakingChanges } from "../../../src/core/schema/breaking-changes.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import type { CompiledSchema } from "../../../src/core/schema/compiled-schema.ts";
import { SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";
import { argumentsOf, schemas } from "./schema-arbitrary.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});
const paths = (before: JsonObject | undefined, after: JsonObject | undefined) =>
  breakingChanges(before, after).map(({ path }) => path);

const TEXT = { type: "string" };

for (const [name, before, after, expected] of [
  ["nothing", object({ a: TEXT }), object({ a: TEXT }), []],
  ["a description", object({ a: TEXT }), object({ a: { ...TEXT, description: "new" } }), []],
  ["a new optional parameter", object({ a: TEXT }), object({ a: TEXT, b: TEXT }), []],
  ["a removed parameter", object({ a: TEXT, b: TEXT }), object({ a: TEXT }), ["properties.b"]],
  [
    "a parameter that is required now",
    object({ a: TEXT }),
    object({ a: TEXT }, { required: ["a"] }),
    ["required"],
  ],
  ["one that is not required any more", object({ a: TEXT }, { required: ["a"] }), object({ a: TEXT }), []],
  [
    "a narrower type",
    object({ a: { type: ["string", "null"] } }),
    object({ a: TEXT }),
    ["properties.a.type"],
  ],
  ["a wider type", object({ a: { type: "integer" } }), object({ a: { type: "number" } }), []],
  [
    "an integer for a number",
    object({ a: { type: "number" } }),
    object({ a: { type: "integer" } }),
    ["properties.a.type"],
  ],
  ["fewer values", object({ a: { enum: [1, 2] } }), object({ a: { enum: [1] } }), ["properties.a.enum"]],
  ["more values", object({ a: { enum: [1] } }), object({ a: { enum: [1, 2] } }), []],
  ["a new enum", object({ a: TEXT }), object({ a: { ...TEXT, enum: ["x"] } }), ["properties.a.enum"]],
  [
    "a higher minimum",
    object({ a: { minimum: 1 } }),
    object({ a: { minimum: 2 } }),
    ["properties.a.minimum"],
  ],
  ["a lower minimum", object({ a: { minimum: 2 } }), object({ a: { minimum: 1 } }), []],
  [
    "a new maxLength",
    object({ a: TEXT }),
    object({ a: { ...TEXT, maxLength: 5 } }),
    ["properties.a.maxLength"],
  ],
  [
    "another pattern",
    object({ a: { pattern: "^a" } }),
    object({ a: { pattern: "^b" } }),
    ["properties.a.pattern"],
  ],
  ["a pattern that is gone", object({ a: { pattern: "^a" } }), object({ a: TEXT }), ["properties.a.type"]],
  [
    "elements",
    object({ a: { items: TEXT } }),
    object({ a: { items: { type: "integer" } } }),
    ["properties.a.items.type"],
  ],
  [
    "a root that is closed now",
    object({}, { additionalProperties: true }),
    object({}),
    ["additionalProperties"],
  ],
  [
    "an inner object that is closed",
    object({ a: object({}) }),
    object({ a: object({}, { additionalProperties: false }) }),
    ["properties.a.additionalProperties"],
  ],
  ["all parameters", object({ a: TEXT }), undefined, ["properties.a"]],
  ["a first parameter", undefined, object({ a: TEXT }), []],
  [
    "a union",
    object({ a: { anyOf: [TEXT] } }),
    object({ a: { anyOf: [{ type: "null" }] } }),
    ["properties.a.anyOf"],
  ],
  [
    "elements that are left over",
    object({ a: { prefixItems: [TEXT] } }),
    object({ a: { prefixItems: [TEXT], items: false } }),
    ["properties.a.items"],
  ],
  [
    "an element whose place is gone",
    object({ a: { prefixItems: [{}], items: TEXT } }),
    object({ a: { items: TEXT } }),
    ["properties.a.prefixItems"],
  ],
  [
    "a tuple",
    object({ a: { items: [TEXT] } }),
    object({ a: { items: [{ type: "integer" }] } }),
    ["properties.a.items"],
  ],
  ["a pattern of names", object({}, { patternProperties: { "^x": {} } }), object({}), ["patternProperties"]],
  [
    "null where OpenAPI says so",
    object({ a: { ...TEXT, nullable: true } }),
    object({ a: TEXT }),
    ["properties.a.type"],
  ],
  ["a root that took anything", { type: "object" }, object({ a: {} }), ["additionalProperties"]],
  ["a root that takes anything", object({ a: {} }), { type: "object" }, []],
  [
    "a member of unevaluatedProperties: false",
    object({ a: {}, b: {} }, { unevaluatedProperties: false }),
    object({ a: {} }, { unevaluatedProperties: false }),
    ["properties.b"],
  ],
  [
    "a text in a branch",
    object({ a: { anyOf: [{ ...TEXT, title: "old" }] } }),
    object({ a: { anyOf: [{ ...TEXT, title: "new" }] } }),
    [],
  ],
  [
    "a reference to the same",
    object({ a: TEXT }),
    object({ a: { $ref: "#/$defs/t" } }, { $defs: { t: TEXT } }),
    [],
  ],
  [
    "what a reference names",
    object({ a: { $ref: "#/$defs/t" } }, { $defs: { t: {} } }),
    object({ a: { $ref: "#/$defs/t" } }, { $defs: { t: TEXT } }),
    ["properties.a.type"],
  ],
  [
    "what leads back into itself",
    object({ a: { $ref: "#" }, b: {} }),
    object({ a: { $ref: "#" } }),
    ["properties.b"],
  ],
] as [string, JsonObject | undefined, JsonObject | undefined, string[]][]) {
  test(`${name}: ${expected.join() || "no change that breaks"}`, () =>
    assert.deepEqual(paths(before, after), expected));
}

/** References that double at each step. */
const doubling = (last: JsonObject) => {
  const steps = Array.from({ length: 30 }, (_, step): [string, JsonObject] => {
    const next = { $ref: `#/$defs/s${step + 1}` };
    return [`s${step}`, step === 29 ? last : object({ x: next, y: next })];
  });
  return object({ a: { $ref: "#/$defs/s0" } }, { $defs: Object.fromEntries(steps) });
};

test("schemas that mean endless ones are said to be too large", () => {
  assert.deepEqual(breakingChanges(doubling(TEXT), doubling({ type: "integer" })), [
    { path: "", change: "is too large to be compared" },
  ]);
  assert.deepEqual(breakingChanges(doubling(TEXT), doubling(TEXT)), []);
});

test("a schema that no tool may have has no calls that could break", () => {
  assert.deepEqual(breakingChanges({ type: "banana" }, object({})), []);
});

/** A schema and a later one, which shares some members with it. */
const pairs = fc
  .tuple(schemas, schemas, fc.subarray(["properties", "required", "$defs", "additionalProperties", "anyOf"]))
  .map(([before, other, members]) => {
    const after = { ...before };
    for (const member of members) {
      delete after[member];
      if (Object.hasOwn(other, member)) after[member] = other[member] as JsonValue;
    }
    return [before, after] as const;
  });

/** `undefined` for a schema that no tool may have. */
function compiled(schema: JsonObject): CompiledSchema | undefined {
  try {
    return compileSchema(schema);
  } catch (error) {
    assert.ok(error instanceof SchemaRejected);
    return undefined;
  }
}

test("a call that fitted before and does not any more has been warned of", () => {
  let warned = 0;
  fc.assert(
    fc.property(pairs, fc.array(argumentsOf, { minLength: 1, maxLength: 20 }), ([before, after], calls) => {
      const [old, current] = [compiled(before), compiled(after)];
      const isBroken = (call: JsonValue) => {
        const was = old?.check(call);
        return was?.ok && was.coercions.length === 0 && current?.check(call).ok === false;
      };
      if (!calls.some(isBroken)) return;
      warned++;
      assert.notDeepEqual(breakingChanges(before, after), []);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(warned > 50, `${warned}`);
});
