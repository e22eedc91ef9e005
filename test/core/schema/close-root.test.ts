import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";

const string = { type: "string" };

function accepts(document: JsonObject | undefined, value: JsonValue): boolean {
  return compileSchema(document).check(value).ok;
}

describe("unknown parameters", () => {
  it("are forbidden without a schema", () => {
    assert.ok(accepts(undefined, {}));
    assert.ok(!accepts(undefined, { a: 1 }));
  });

  it("are forbidden beside declared ones", () => {
    assert.ok(!accepts({ properties: { a: string } }, { a: "x", b: 1 }));
    assert.ok(!accepts({ type: "object", properties: {} }, { b: 1 }));
  });

  it("are allowed where the schema says so", () => {
    for (const additionalProperties of [true, {}, { type: "integer" }]) {
      assert.ok(accepts({ properties: { a: string }, additionalProperties }, { a: "x", b: 1 }));
    }
    assert.ok(accepts({ properties: { a: string }, unevaluatedProperties: true }, { a: "x", b: 1 }));
    assert.ok(accepts({ properties: { a: string }, patternProperties: { "^x-": {} } }, { a: "x", "x-b": 1 }));
    assert.ok(!accepts({ properties: { a: string }, patternProperties: { "^x-": {} } }, { a: "x", b: 1 }));
  });

  it("are allowed where the schema declares none at all", () => {
    assert.ok(accepts({ type: "object" }, { a: 1 }));
    assert.ok(accepts({}, { a: 1 }));
  });

  it("are those that no part of the root declares", () => {
    const document = {
      properties: { a: string },
      allOf: [{ properties: { b: string } }, { $ref: "#/$defs/C" }],
      oneOf: [
        { properties: { d: string }, required: ["d"] },
        { properties: { e: string }, required: ["e"] },
      ],
      $defs: { C: { properties: { c: string } } },
    };
    assert.ok(accepts(document, { a: "x", b: "x", c: "x", d: "x" }));
    assert.ok(accepts(document, { e: "x" }));
    assert.ok(!accepts(document, { d: "x", f: "x" }));
  });

  it("stay as a branch of the root says", () => {
    const document = { properties: { a: string }, allOf: [{ additionalProperties: { type: "integer" } }] };
    assert.ok(accepts({ properties: { a: {} }, allOf: [{ additionalProperties: true }] }, { b: 1 }));
    assert.ok(!accepts(document, { b: "x" }));
  });

  it("inside a parameter are the schema's own business", () => {
    assert.ok(accepts({ properties: { a: { type: "object", properties: { b: string } } } }, { a: { c: 1 } }));
  });

  it("do not include a required name that is not declared", () => {
    assert.ok(accepts({ properties: { a: string }, required: ["b"] }, { b: 1 }));
  });
});

describe("the root of a tool schema", () => {
  for (const document of [
    { type: "array" },
    { type: ["object", "string"] },
    { anyOf: [{ type: "object" }, { type: "string" }] },
    { enum: [1] },
    { $ref: "#/$defs/s", $defs: { s: { type: "string" } } },
  ]) {
    it(`is refused where it takes anything but an object: ${JSON.stringify(document)}`, () => {
      assert.throws(
        () => compileSchema(document),
        (error) => error instanceof SchemaRejected && error.faults[0]?.reason === "root_not_object",
      );
    });
  }

  for (const document of [
    {},
    { type: ["object", "null"] },
    { anyOf: [{ required: ["a"] }, { required: ["b"] }], properties: { a: {}, b: {} } },
    { $ref: "#/$defs/o", $defs: { o: { type: "object" } } },
  ]) {
    it(`takes only an object: ${JSON.stringify(document)}`, () => {
      assert.ok(accepts(document, { a: 1 }));
      for (const value of ["x", 1, [], true]) assert.ok(!accepts(document, value));
    });
  }
});
