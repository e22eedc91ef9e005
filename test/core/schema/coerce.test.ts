import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";

const integer = { type: "integer" };
const string = { type: "string" };
const array = (items: JsonValue): JsonObject => ({ type: "array", items });
const object = (properties: JsonObject): JsonObject => ({ type: "object", properties });

/** Schema of the parameter `v`, its value, what it becomes, and the paths that are reported. */
type Row = readonly [JsonObject, JsonValue, JsonValue, readonly string[]];

const CHANGED: readonly Row[] = [
  [integer, "42", 42, ["/v"]],
  [integer, "-7", -7, ["/v"]],
  [integer, "140.0", 140, ["/v"]],
  [integer, "12e1", 120, ["/v"]],
  [integer, "-0", 0, ["/v"]],
  [integer, "12345678901234567890", 12345678901234567890n, ["/v"]],
  [integer, "12345678901234567890.0", 12345678901234567890n, ["/v"]],
  [{ type: "number" }, "0.1", 0.1, ["/v"]],
  [{ type: "number" }, "1.50", 1.5, ["/v"]],
  [{ type: "number" }, "1e30", 1e30, ["/v"]],
  [{ type: "boolean" }, "true", true, ["/v"]],
  [{ type: ["boolean", "integer"] }, "false", false, ["/v"]],
  [{ type: ["integer", "null"] }, "5", 5, ["/v"]],
  [{ enum: [1, 2] }, "2", 2, ["/v"]],
  [{ const: true }, "true", true, ["/v"]],
  [array(string), "a", ["a"], ["/v"]],
  [array(integer), 5, [5], ["/v"]],
  [array(integer), "5", [5], ["/v", "/v/0"]],
  [array(object({ n: integer })), { n: "1" }, [{ n: 1 }], ["/v", "/v/0/n"]],
  [array(string), '["a","b"]', ["a", "b"], ["/v"]],
  [array(object({})), '{"a":1}', [{ a: 1 }], ["/v", "/v/0"]],
  [array(array(integer)), 1, [[1]], ["/v", "/v/0"]],
  [object({ n: integer }), '{"n":"1"}', { n: 1 }, ["/v", "/v/n"]],
  [object({ n: integer }), '{"n":12345678901234567890}', { n: 12345678901234567890n }, ["/v"]],
  [object({ n: { ...integer, nullable: false } }), { n: null }, {}, ["/v/n"]],
  [object({ a: integer, b: integer }), { a: "1", b: 2 }, { a: 1, b: 2 }, ["/v/a"]],
  [{ type: "object", additionalProperties: integer }, { x: "1" }, { x: 1 }, ["/v/x"]],
  [
    { type: "object", patternProperties: { "^n": integer } },
    { n1: "1", s: "2" },
    { n1: 1, s: "2" },
    ["/v/n1"],
  ],
  [{ type: "array", prefixItems: [string, integer] }, ["1", "2"], ["1", 2], ["/v/1"]],
  [
    { allOf: [{ properties: { a: integer } }, { properties: { a: { minimum: 1 } } }] },
    { a: "1" },
    { a: 1 },
    ["/v/a"],
  ],
  [{ $ref: "#/$defs/n" }, "3", 3, ["/v"]],
  [array({ $ref: "#/$defs/n" }), ["3"], [3], ["/v/0"]],
  [
    { properties: { k: {} }, if: { required: ["z"] }, else: { properties: { a: integer } } },
    { k: 1, a: "1" },
    { k: 1, a: 1 },
    ["/v/a"],
  ],
  [{ dependentSchemas: { k: { properties: { a: integer } } } }, { k: 1, a: "1" }, { k: 1, a: 1 }, ["/v/a"]],
];

/** Schema of the parameter `v`, and a value that is refused rather than changed. */
const REFUSED: readonly (readonly [JsonObject, JsonValue])[] = [
  ...["1.5", "", " 1", "1 ", "0x10", "01", "+1", "1e", ".5", "abc", "NaN", "Infinity", "1e400"].map(
    (text): [JsonObject, JsonValue] => [integer, text],
  ),
  [{ type: "number" }, "0.12345678901234567890123"],
  [integer, true],
  [integer, false],
  [integer, [1]],
  [integer, 1.5],
  [{ type: "boolean" }, 1],
  [{ type: "boolean" }, 0],
  [{ type: "boolean" }, "True"],
  [{ type: "boolean" }, "yes"],
  [{ type: "boolean" }, "1"],
  [string, 5],
  [string, true],
  [string, ["a"]],
  [{ type: ["integer", "null"] }, "null"],
  [{ enum: ["a", "b"] }, "A"],
  [array(integer), "x"],
  [array(string), '["dir C:\\Dev"]'],
  [array(string), null],
  [array(integer), true],
  [object({}), "[1]"],
  [object({}), "{"],
  [object({}), "5"],
];

/** Schema of the parameter `v`, and a value that is valid and must not be touched. */
const UNTOUCHED: readonly (readonly [JsonObject, JsonValue])[] = [
  [string, "42"],
  [{ type: ["integer", "string"] }, "42"],
  [{}, "42"],
  [{ type: ["string", "null"] }, "null"],
  [{ type: ["array", "string"] }, "[1]"],
  [{ anyOf: [integer, string] }, "42"],
  [integer, 140],
  [{ type: "object", properties: { a: { type: ["integer", "null"] } } }, { a: null }],
];

function schemaOf(v: JsonObject): JsonObject {
  return { type: "object", properties: { v }, required: ["v"], $defs: { n: integer } };
}

describe("coercion", () => {
  for (const [schema, from, to, paths] of CHANGED) {
    it(`makes ${show(to)} of ${show(from)} for ${show(schema)}`, () => {
      const verdict = compileSchema(schemaOf(schema)).check({ v: from });
      assert.deepEqual(verdict.ok && verdict.value, { v: to });
      assert.deepEqual(
        verdict.coercions.map(({ path }) => path),
        paths,
      );
    });
  }
  for (const [schema, value] of REFUSED) {
    it(`leaves ${show(value)} wrong for ${show(schema)}`, () => {
      assert.equal(compileSchema(schemaOf(schema)).check({ v: value }).ok, false);
    });
  }
  for (const [schema, value] of UNTOUCHED) {
    it(`leaves ${show(value)} alone for ${show(schema)}`, () => {
      const given = { v: value };
      const verdict = compileSchema(schemaOf(schema)).check(given);
      assert.deepEqual(verdict, { ok: true, value: given, coercions: [] });
      assert.equal(verdict.ok && verdict.value, given, "the very same object");
    });
  }

  it("makes the root an object of its JSON text or of null, and of nothing else", () => {
    const schema = compileSchema(object({ n: integer }));
    const text = schema.check('{"n":"1"}');
    assert.deepEqual(text.ok && text.value, { n: 1 });
    assert.deepEqual(
      text.coercions.map(({ path }) => path),
      ["", "/n"],
    );
    assert.deepEqual(schema.check(null), {
      ok: true,
      value: {},
      coercions: [{ path: "", from: null, to: {} }],
    });
    for (const value of ["null", "[]", "5", [{}], 1]) assert.equal(schema.check(value).ok, false);
  });

  it("leaves out null for an optional parameter only", () => {
    const schema = compileSchema({ ...object({ a: integer, b: string }), required: ["b"] });
    const verdict = schema.check({ a: null, b: "x" });
    assert.deepEqual(verdict, { ok: true, value: { b: "x" }, coercions: [{ path: "/a", from: null }] });
    assert.equal(schema.check({ b: null }).ok, false);
  });

  it("reports what it changed also where something else is wrong", () => {
    const verdict = compileSchema(object({ a: integer, b: integer })).check({ a: "1", b: "x" });
    assert.equal(verdict.ok, false);
    assert.deepEqual(verdict.coercions, [{ path: "/a", from: "1", to: 1 }]);
  });

  it("does not change what it was given", () => {
    const given = { v: [{ n: "1", o: null }], w: '{"a":"1"}' };
    const copy = structuredClone(given);
    const schema = compileSchema(
      object({ v: array(object({ n: integer, o: integer })), w: object({ a: integer }) }),
    );
    const verdict = schema.check(given);
    assert.deepEqual(verdict.ok && verdict.value, { v: [{ n: 1 }], w: { a: 1 } });
    assert.deepEqual(given, copy);
  });

  it("keeps __proto__ as an ordinary member", () => {
    const given = JSON.parse('{"m":{"__proto__":"1"}}') as JsonObject;
    const verdict = compileSchema(object({ m: { additionalProperties: integer } })).check(given);
    assert.ok(verdict.ok);
    assert.equal(JSON.stringify(verdict.value), '{"m":{"__proto__":1}}');
  });
});

function show(value: JsonValue): string {
  return JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? `${member}n` : member));
}
