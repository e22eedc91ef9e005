import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../../src/core/json/value.ts";

/** Numbers whose text gives them back: no -0, and integers beyond the safe ones as `bigint`. */
const number: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value))
    .map((value) => (value === 0 ? 0 : value)),
);

/** Any text, often with a format's own markup in it, whole and in parts. */
export function anyText(markup: readonly string[]): fc.Arbitrary<string> {
  const piece = markup.length === 0 ? fc.constant("") : fc.constantFrom(...markup);
  return fc
    .array(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.constantFrom(
          "\n",
          '"',
          "'",
          "\\",
          "\\n",
          "\\u003c",
          "{",
          "}",
          "[",
          "]",
          "(",
          ")",
          ",",
          ":",
          "```",
          "</think>",
        ),
        piece,
        piece.chain((text) => fc.nat(text.length).map((end) => text.slice(0, end))),
      ),
      { maxLength: 8 },
    )
    .map((pieces) => pieces.join(""));
}

/** What a format can say. */
export interface Sayable {
  key: fc.Arbitrary<string>;
  text: fc.Arbitrary<string>;
}

/** Any JSON value of such texts and keys. */
export function anyValue({ key, text }: Sayable): fc.Arbitrary<JsonValue> {
  return fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, false),
      number,
      text,
      fc.array(tie("value"), { maxLength: 4 }),
      anyObject(key, tie("value")),
    ),
  })).value;
}

function anyObject(key: fc.Arbitrary<string>, value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> {
  return fc.dictionary(fc.oneof(key, fc.constant("__proto__")), value, { maxKeys: 4, noNullPrototype: true });
}

/** Arguments of any names and values. */
export function anyArguments(sayable: Sayable): fc.Arbitrary<JsonObject> {
  return anyObject(sayable.key, anyValue(sayable));
}

/** The schema for `typedArguments`: a parameter of each type. */
export const TYPED = {
  type: "object",
  properties: {
    text: { type: "string" },
    "second text": { type: "string" },
    number: { type: "number" },
    flag: { type: "boolean" },
    list: { type: "array" },
    object: { type: "object" },
    texts: { type: "array", items: { type: "string" } },
    nested: { type: "object", properties: { text: { type: "string" }, count: { type: "integer" } } },
  },
} as const;

/** Arguments for `TYPED`, each of its type, any of them left out. */
export function typedArguments(sayable: Sayable): fc.Arbitrary<JsonObject> {
  const value = anyValue(sayable);
  return fc.record(
    {
      text: sayable.text,
      "second text": sayable.text,
      number,
      flag: fc.boolean(),
      list: fc.array(value, { maxLength: 3 }),
      object: anyObject(sayable.key, value),
    },
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<JsonObject>;
}

/** Arguments for `TYPED` whose every value has its type from the schema, however deep; no list or object is empty. */
export function nestedArguments({ text }: Sayable): fc.Arbitrary<JsonObject> {
  const nested = fc
    .record({ text, count: fc.maxSafeInteger() }, { requiredKeys: [], noNullPrototype: true })
    .filter((object) => Object.keys(object).length > 0);
  return fc.record(
    { text, number, flag: fc.boolean(), texts: fc.array(text, { minLength: 1, maxLength: 3 }), nested },
    { requiredKeys: [], noNullPrototype: true },
  ) as fc.Arbitrary<JsonObject>;
}
