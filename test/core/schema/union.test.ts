import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { explain } from "../../../src/core/schema/message.ts";

const integer = { type: "integer" };
const string = { type: "string" };

const circle = {
  type: "object",
  properties: { kind: { const: "circle" }, r: { type: "number" } },
  required: ["kind", "r"],
};
const square = {
  type: "object",
  properties: { kind: { const: "square" }, a: integer, note: string },
  required: ["kind", "a"],
};
const shapes = { oneOf: [{ $ref: "#/$defs/circle" }, { $ref: "#/$defs/square" }] };

function check(v: JsonObject, value: JsonValue) {
  return compileSchema({ properties: { v }, required: ["v"], $defs: { circle, square } }).check({ v: value });
}

function said(v: JsonObject, value: JsonValue): string {
  const verdict = check(v, value);
  assert.ok(!verdict.ok);
  const [problem] = verdict.problems;
  assert.ok(problem !== undefined);
  return explain(problem, "en");
}

describe("a union", () => {
  it("that one branch of fits is not touched", () => {
    const verdict = check({ anyOf: [integer, { type: "object", properties: { n: string } }] }, { n: "5" });
    assert.deepEqual(verdict.coercions, []);
  });

  it("is coerced by the branch that was meant, and only there", () => {
    const verdict = check(shapes, { kind: "square", a: "2", note: "3" });
    assert.deepEqual(verdict.ok && verdict.value, { v: { kind: "square", a: 2, note: "3" } });
    assert.deepEqual(
      verdict.coercions.map(({ path }) => path),
      ["/v/a"],
    );
  });

  it("is coerced by the branch that needs the fewest changes", () => {
    const both = { type: "object", properties: { a: integer, b: integer }, required: ["a", "b"] };
    const one = { type: "object", properties: { a: integer, b: string }, required: ["a", "b"] };
    const verdict = check({ anyOf: [both, one] }, { a: "1", b: "2" });
    assert.deepEqual(verdict.ok && verdict.value, { v: { a: 1, b: "2" } });
  });

  it("of types takes the JSON text or the number that a string says", () => {
    const union = { anyOf: [integer, { type: "array", items: integer }, { type: "null" }] };
    for (const [from, to] of [
      ["7", 7],
      ["[7]", [7]],
    ] as const) {
      const verdict = check(union, from);
      assert.deepEqual(verdict.ok && verdict.value, { v: to });
    }
  });

  it("of no branch that fits leaves what was sent as it is, and says what it may be", () => {
    const schema = compileSchema({
      type: "object",
      properties: { v: { anyOf: [integer, { type: "array", items: integer }] } },
    });
    const verdict = schema.check({ v: "x" });
    assert.deepEqual(verdict.coercions, []);
    const [problem] = verdict.ok ? [] : verdict.problems;
    assert.deepEqual(problem, { kind: "type", path: ["v"], types: ["array", "integer"], value: "x" });
    const wrapped = schema.check({ v: 5.0 });
    assert.equal(wrapped.ok, true);
    const boolean = compileSchema({
      type: "object",
      properties: { v: { anyOf: [{ type: "boolean" }, { type: "array", items: integer }] } },
    }).check({ v: 7 });
    assert.deepEqual(boolean.ok && boolean.value, { v: [7] });
  });

  it("inside a union is coerced too", () => {
    const inner = {
      type: "object",
      properties: { w: { anyOf: [integer, { type: "boolean" }] } },
      required: ["w"],
    };
    const verdict = check({ anyOf: [{ type: "null" }, inner] }, { w: "true" });
    assert.deepEqual(verdict.ok && verdict.value, { v: { w: true } });
  });
});

describe("what is said about a union", () => {
  it("is its types, where none fits", () => {
    assert.match(
      said({ anyOf: [integer, { type: "null" }] }, "x"),
      /^Parameter "v" must be an integer or null, but you sent the string "x"\./,
    );
  });

  it("is the problem of the branch that was meant", () => {
    assert.match(
      said(shapes, { kind: "square", a: "x" }),
      /^Parameter "v.a" must be an integer, but you sent the string "x"\./,
    );
    assert.match(said(shapes, { kind: "circle" }), /^Parameter "v.r" is missing\./);
  });

  it("is the list of all tags, where the tag is wrong", () => {
    assert.match(
      said(shapes, { kind: "cube", a: 1 }),
      /^Parameter "v.kind" must be one of "circle", "square", but you sent the string "cube"\./,
    );
  });

  it("is one list, where the branches are single values", () => {
    const union = { oneOf: [{ const: "a", title: "A" }, { enum: ["b", "c"] }] };
    assert.match(
      said(union, "d"),
      /^Parameter "v" must be one of "a", "b", "c", but you sent the string "d"\./,
    );
  });

  it("is that too many branches fit, where they do", () => {
    assert.match(
      said({ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3),
      /^Parameter "v" must match exactly one of the 2 forms/,
    );
  });

  it("does not hide another problem of the same object", () => {
    const verdict = compileSchema({
      properties: { v: { anyOf: [integer, string] }, w: integer },
      required: ["x"],
    }).check({ v: true, w: "y" });
    assert.ok(!verdict.ok);
    assert.deepEqual(
      verdict.problems.map(({ kind, path }) => [kind, path]),
      [
        ["missing", []],
        ["type", ["v"]],
        ["type", ["w"]],
      ],
    );
  });
});
