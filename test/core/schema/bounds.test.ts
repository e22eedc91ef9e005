import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import type { Problem } from "../../../src/core/schema/problem.ts";
import { type FaultReason, SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";

/** What a check may take on a slow machine under load; unbounded work takes minutes. */
const MAX_MS = 10_000;

function record<T>(count: number, value: (at: number) => T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value(at)]));
}

function list<T>(count: number, value: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => value(at));
}

function reasonOf(document: JsonObject): FaultReason | undefined {
  try {
    compileSchema(document);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof SchemaRejected);
    return error.faults[0]?.reason;
  }
}

function problemOf(v: JsonObject, value: JsonValue, $defs: JsonObject = {}): Problem | undefined {
  const schema = compileSchema({ properties: { v }, $defs });
  const started = performance.now();
  const verdict = schema.check({ v: value });
  assert.ok(performance.now() - started < MAX_MS);
  return verdict.ok ? undefined : verdict.problems[0];
}

describe("the size of a schema", () => {
  const rows: [FaultReason, JsonObject][] = [
    ["too_large", { description: "d".repeat(70_000) }],
    ["too_many_properties", { properties: record(257, () => ({})) }],
    ["too_many_branches", { anyOf: list(101, () => ({ type: "object" })) }],
    ["too_many_nodes", { properties: record(100, () => ({ properties: record(30, () => ({})) })) }],
    ["enum_too_large", { properties: { q: { enum: list(1_001, (at) => at) } } }],
    ["enum_too_large", { properties: { q: { enum: ["x".repeat(17_000)] } } }],
    ["name_too_long", { properties: { ["n".repeat(65)]: {} } }],
    ["pattern_too_long", { properties: { q: { pattern: "a".repeat(257) } } }],
    [
      "expansion_too_large",
      { $ref: "#/$defs/k0", $defs: record(20, (at) => ({ allOf: at < 19 ? [next(at), next(at)] : [{}] })) },
    ],
    ["too_deep", { properties: { a: list(40, () => 0).reduce<JsonObject>((items) => ({ items }), {}) } }],
    ["too_deep", { $ref: "#/$defs/k0", $defs: record(90, (at) => (at < 89 ? next(at) : {})) }],
    [
      "too_deep",
      {
        properties: { a: next(-1) },
        $defs: record(301, (at) => ({ properties: { a: next(at === 300 ? -1 : at) } })),
      },
    ],
  ];
  for (const [reason, document] of rows) {
    it(`is bounded: ${reason} for ${JSON.stringify(document).slice(0, 60)}`, () => {
      assert.equal(reasonOf(document), reason);
    });
  }

  it("may be what real tools have", () => {
    assert.equal(
      reasonOf({ properties: record(256, () => ({ type: "string", description: "d".repeat(100) })) }),
      undefined,
    );
    assert.equal(reasonOf({ properties: { q: { enum: list(1_000, (at) => `v${at}`) } } }), undefined);
    const chain = record(500, (at) =>
      at < 499 ? { type: "object", properties: { a: next(at) } } : { type: "string" },
    );
    assert.equal(reasonOf({ properties: { a: next(-1) }, $defs: chain }), undefined);
  });
});

describe("the time of a check", () => {
  it("is bounded where every branch of a recursion leads deeper", () => {
    const branch = (title: string) => ({
      title,
      type: "object",
      properties: { p: { $ref: "#/$defs/F" } },
      required: ["p"],
    });
    const deep = list(60, () => 0).reduce<JsonValue>((inner) => ({ p: inner }), 1);
    const problem = problemOf({ $ref: "#/$defs/F" }, deep, { F: { anyOf: [branch("a"), branch("b")] } });
    assert.equal(problem?.kind === "bound" && problem.bound, "time");
  });

  it("is bounded where many branches are tried on many elements", () => {
    const branches = list(90, (at) => ({ type: "object", required: [`k${at}`] }));
    const rows = list(500, () => list(500, () => ({})));
    assert.ok(problemOf({ items: { items: { anyOf: branches } } }, rows));
    assert.ok(
      problemOf(
        { contains: { anyOf: list(99, (at) => ({ const: at })) } },
        list(1_000, () => list(50, () => "x")),
      ),
    );
  });

  it("is bounded where a string is unwrapped again and again", () => {
    const nested = list(25, () => 0).reduce<JsonObject>((items) => ({ type: "array", items }), {
      type: "integer",
    });
    const text = list(10, () => 0).reduce<string>((inner) => JSON.stringify([inner]), "1");
    assert.equal(problemOf(nested, text)?.kind, "type");
    assert.equal(problemOf(nested, "x")?.kind, "type");
  });

  it("is bounded where an array of arrays of arrays without end is wanted", () => {
    const endless = { y: { type: "array", items: { anyOf: [{ $ref: "#/$defs/y" }] } } };
    for (const value of ["x", 1, { a: 1 }])
      assert.equal(problemOf({ $ref: "#/$defs/y" }, value, endless)?.kind, "type");
  });

  it("is bounded where unions stand in unions on every level", () => {
    const union = list(20, () => 0).reduce<JsonObject>((inner) => ({ anyOf: [inner] }), {
      type: "object",
      properties: { p: { $ref: "#/$defs/u" }, n: { type: "integer" } },
    });
    const value = list(60, () => 0).reduce<JsonValue>((inner) => ({ p: inner, n: "1" }), {});
    assert.ok(problemOf({ $ref: "#/$defs/u" }, value, { u: union }) !== undefined);
  });

  it("is bounded where elements are compared", () => {
    assert.equal(
      problemOf(
        { uniqueItems: true },
        list(1_000, (at) => ({ a: at, b: { c: at } })),
      ),
      undefined,
    );
  });

  it("is bounded for the format whose expression is not linear", () => {
    assert.ok(
      problemOf(
        { items: { format: "url" } },
        list(500, () => `http://a.${"::".repeat(1_000)}`),
      ),
    );
    assert.equal(
      problemOf(
        { items: { format: "url" } },
        list(500, (at) => `https://example.com/${at}`),
      ),
      undefined,
    );
  });
});

describe("the size of arguments", () => {
  it("allows an array as long as some part of the schema says", () => {
    const long = list(1_500, (at) => at);
    assert.equal(problemOf({ type: "array", maxItems: 2_000 }, long), undefined);
    assert.deepEqual(problemOf({ type: "array" }, long)?.path, ["v"]);
  });

  it("is bounded also inside JSON text", () => {
    const text = `${"[".repeat(70)}1${"]".repeat(70)}`;
    assert.equal(problemOf({ type: "array" }, text)?.kind, "type");
    const flat = JSON.stringify(list(1_001, () => 1));
    assert.equal(problemOf({ type: "array" }, flat)?.kind, "bound");
  });
});

function next(at: number): JsonObject {
  return { $ref: `#/$defs/k${at + 1}` };
}
