import fc from "fast-check";
import { REPAIR_NAMES } from "../../src/core/json/repair-names.ts";
import { stringifyJson } from "../../src/core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { misspell } from "../core/json/misspelling.ts";
import { argumentsOf, schemas } from "../core/schema/schema-arbitrary.ts";

/** The text of arguments for a schema, and what is known of them beforehand. */
export interface GateCase {
  /** `valid` fits as it is; `coercible` fits after lossless coercion; of the others nothing is known. */
  kind: "valid" | "coercible" | "misspelled" | "arbitrary" | "broken" | "hostile";
  schema: JsonObject;
  text: string;
  /** The only arguments that may come of the text, where it passes. */
  value?: JsonValue;
  /** Lengths of the fragments, used in turn. */
  sizes: readonly number[];
}

/** A schema with a value of it, and with another spelling of that value that can be coerced. */
interface Shape {
  schema: JsonObject;
  value: JsonValue;
  loose: JsonValue;
}

const scalar = <T extends JsonValue>(type: string, values: fc.Arbitrary<T>): fc.Arbitrary<Shape> =>
  fc.record({ value: values, isLoose: fc.boolean() }).map(({ value, isLoose }) => ({
    schema: { type },
    value,
    loose: isLoose && type !== "string" ? stringifyJson(value) : value,
  }));

const integers = fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }));
/** Without what another number or a `bigint` is read for. */
const doubles = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((value) => !Object.is(value, -0) && Number.isInteger(value) === Number.isSafeInteger(value));
const words = fc.string({ unit: "binary", maxLength: 12 });

const shape: fc.Arbitrary<Shape> = fc.letrec<{ shape: Shape; object: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar("string", words),
    scalar("integer", integers),
    scalar("number", doubles),
    scalar("boolean", fc.boolean()),
    words.map((value) => ({ schema: { enum: [value, "other"] }, value, loose: value })),
    tie("shape").map(({ schema, value, loose }) => ({
      schema: { type: "array", items: schema },
      value: [value, value],
      loose: [loose, value],
    })),
    tie("object").map(({ schema, value }) => ({ schema, value, loose: stringifyJson(value) })),
    tie("object"),
  ),
  object: fc
    .dictionary(fc.constantFrom("a", "b", "c", "名"), tie("shape"), { noNullPrototype: true })
    .map(toObject),
})).object;

function toObject(members: Readonly<Record<string, Shape>>): Shape {
  const each = (pick: (member: Shape) => JsonValue): JsonObject =>
    Object.fromEntries(Object.entries(members).map(([key, member]) => [key, pick(member)]));
  return {
    schema: {
      type: "object",
      properties: { ...each(({ schema }) => schema), left_out: { type: "string" } },
      required: Object.keys(members),
    },
    value: each(({ value }) => value),
    loose: { ...each(({ loose }) => loose), left_out: null },
  };
}

const HOSTILE_SCHEMAS: readonly JsonObject[] = [
  { type: "object", properties: { a: { $ref: "#" }, b: { type: "array", items: { $ref: "#" } } } },
  { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" }, b: { pattern: "(x|xx)*y" } } },
  { type: "object", properties: { a: { uniqueItems: true } }, patternProperties: { "(.*)*b": {} } },
  {
    type: "object",
    properties: { a: { anyOf: Array.from({ length: 30 }, (_, at) => ({ const: `${at}` })) } },
  },
  { type: "object", additionalProperties: { type: "number", multipleOf: 1e-300 } },
  {
    type: "object",
    properties: { a: { $ref: "#/$defs/d0" } },
    $defs: Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        `d${at}`,
        at === 19
          ? { type: "integer" }
          : { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    ),
  },
];

const HOSTILE_TEXTS: readonly string[] = [
  "[".repeat(5_000),
  '{"a":'.repeat(200),
  `${'{"a":'.repeat(60)}1${"}".repeat(60)}`,
  `{"a":"${"a".repeat(15_000)}!"}`,
  `{"a":"${"\\".repeat(9_999)}"}`,
  `{"a":"${"\\u0000\\ud800".repeat(500)}"}`,
  `{"a":[${"1,".repeat(3_000)}1]}`,
  `{"a":[${'{"b":[]},'.repeat(900)}{}]}`,
  `{"a":"${"[".repeat(3_000)}"}`,
  `{"a":${"9".repeat(9_000)}}`,
  '{"a":1e999,"b":-0,"c":0.1e-400}',
  '{"__proto__":{"a":1},"constructor":1,"toString":null}',
  '{"a":1,"a":"2"}',
  '{"a":1}{"a":1}',
  '{}{"a":"x"}',
  '{{"a":1}',
  "null",
  "\u0000\ufeff{}",
  "{'a':".repeat(300),
  `{${"'".repeat(5_000)}`,
  `${"`".repeat(5_000)}{}`,
  `/*${"*".repeat(5_000)}`,
  `{${Array.from({ length: 1_500 }, (_, at) => `"k${at}":${at}`).join(",")}}`,
  " ".repeat(25_000),
];

const known = shape.map(({ schema, value, loose }) => [
  { kind: "valid" as const, schema, value, text: stringifyJson(value) },
  { kind: "coercible" as const, schema, value, text: stringifyJson(loose) },
]);

const misspelled = fc
  .tuple(shape, fc.subarray([...REPAIR_NAMES]), fc.array(fc.nat(1_000), { maxLength: 20 }))
  .map(([{ schema, value, loose }, faults, dice]) => ({
    kind: "misspelled" as const,
    schema,
    value,
    text: misspell(loose as JsonObject, faults, dice).text,
  }));

const arbitrary = fc
  .tuple(fc.oneof(schemas, fc.constantFrom(...HOSTILE_SCHEMAS)), argumentsOf)
  .map(([schema, value]) => ({ kind: "arbitrary" as const, schema, text: stringifyJson(value) }));

/** A text of the others in which some characters are cut out and others put in. */
const broken = fc
  .tuple(
    fc.oneof(misspelled, arbitrary),
    fc.nat(),
    fc.nat(20),
    fc.constantFrom("", "{", "}", '"', "\\", ",", "0", "'"),
  )
  .map(([{ schema, text }, place, cut, put]) => {
    const at = place % (text.length + 1);
    return { kind: "broken" as const, schema, text: text.slice(0, at) + put + text.slice(at + cut) };
  });

const hostile = fc.record({
  kind: fc.constant("hostile" as const),
  schema: fc.oneof(schemas, fc.constantFrom(...HOSTILE_SCHEMAS)),
  text: fc.constantFrom(...HOSTILE_TEXTS),
});

/** Calls of every kind, each with a way to cut it into fragments. */
export const gateCases: fc.Arbitrary<GateCase> = fc
  .tuple(
    fc.oneof(
      known.chain((two) => fc.constantFrom(...two)),
      misspelled,
      arbitrary,
      broken,
      hostile,
    ),
    fc.array(fc.oneof(fc.integer({ min: 0, max: 4 }), fc.nat(200)), { minLength: 1, maxLength: 12 }),
  )
  .map(([one, sizes]) => ({ ...one, sizes: [...sizes, 3] }));
