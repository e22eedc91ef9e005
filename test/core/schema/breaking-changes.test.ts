import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { breakingChanges } from "../../../src/core/schema/breaking-changes.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";

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
] as [string, JsonObject | undefined, JsonObject | undefined, string[]][]) {
  test(`${name}: ${expected.join() || "no change that breaks"}`, () =>
    assert.deepEqual(paths(before, after), expected));
}

const leaf = fc.oneof(
  fc.record({ type: fc.constantFrom("string", "integer", "number", "boolean") }),
  fc.record({ type: fc.constant("string"), maxLength: fc.nat(5) }),
  fc.record({ type: fc.constant("integer"), minimum: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom("a", "b", "c", 1, 2), { minLength: 1 }) }),
);
const schemas = fc
  .record({
    properties: fc.dictionary(fc.constantFrom("p", "q", "r"), leaf),
    required: fc.uniqueArray(fc.constantFrom("p", "q", "r")),
    additionalProperties: fc.option(fc.boolean(), { nil: undefined }),
  })
  .map(({ properties, required, additionalProperties }) => ({
    type: "object",
    properties: { ...properties },
    required: required.filter((name) => name in properties),
    ...(additionalProperties !== undefined && { additionalProperties }),
  })) as fc.Arbitrary<JsonObject>;
const values = fc.dictionary(
  fc.constantFrom("p", "q", "r", "s"),
  fc.constantFrom("a", "b", "c", "longer text", 1, 2, 1.5, -3, true),
) as fc.Arbitrary<JsonObject>;

test("a call that fitted before and does not any more has been warned of", () => {
  fc.assert(
    fc.property(
      schemas,
      schemas,
      fc.array(values, { minLength: 1, maxLength: 20 }),
      (before, after, calls) => {
        const [old, current] = [before, after].map((schema) => compileSchema(schema));
        const broken = calls.some((call) => {
          const was = old?.check(call);
          return was?.ok && was.coercions.length === 0 && !current?.check(call).ok;
        });
        if (broken) assert.notDeepEqual(breakingChanges(before, after), []);
      },
    ),
    { numRuns: 300 },
  );
});
