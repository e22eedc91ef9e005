import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { type FaultReason, MAX_FAULTS, SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";

const string = { type: "string" };

function accepts(document: JsonObject | undefined, value: JsonValue): boolean {
  return compileSchema(document).check(value).ok;
}

function faultsOf(document: JsonObject): [string, FaultReason][] {
  try {
    compileSchema(document);
  } catch (error) {
    assert.ok(error instanceof SchemaRejected);
    return error.faults.map(({ path, reason }) => [path, reason]);
  }
  return [];
}

describe("the dialect of a tool schema", () => {
  it("is 2020-12 without $schema", () => {
    const document = { properties: { pair: { prefixItems: [string, { type: "integer" }], items: false } } };
    assert.ok(accepts(document, { pair: ["a", 1] }));
    assert.ok(!accepts(document, { pair: [1, "a"] }));
  });

  it("is draft-07 without $schema where only draft-07 allows the document", () => {
    const document = {
      properties: { pair: { items: [string, { type: "integer" }], additionalItems: false } },
    };
    assert.ok(accepts(document, { pair: ["a", 1] }));
    assert.ok(!accepts(document, { pair: ["a", 1, 2] }));
  });

  for (const uri of [
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
  ]) {
    it(`is that of $schema: ${uri}`, () => {
      const isOld = uri.includes("draft-07");
      const document = {
        $schema: uri,
        properties: { a: string, b: string },
        dependentRequired: { a: ["b"] },
      };
      assert.equal(accepts(document, { a: "x" }), isOld, "draft-07 does not know dependentRequired");
    });
  }

  it("is none of the others", () => {
    const document = { $schema: "http://json-schema.org/draft-04/schema#", type: "object" };
    assert.deepEqual(faultsOf(document), [["/$schema", "dialect_not_supported"]]);
  });
});

describe("unknown keywords and formats of a tool schema", () => {
  it("are annotations", () => {
    const q = { ...string, format: "no-such-format", "x-order": 1, example: "b", id: "q", discriminator: {} };
    assert.ok(accepts({ type: "object", properties: { q }, "x-wrap": { $id: "x", $ref: 1 } }, { q: "a" }));
  });

  it("can be the place that a reference leads to", () => {
    const document = {
      properties: { q: { $ref: "#/components/schemas/Q" } },
      components: { schemas: { Q: string } },
    };
    assert.ok(accepts(document, { q: "a" }));
    assert.ok(!accepts(document, { q: 1 }));
  });

  it("include nullable without a type, while beside a type it allows null", () => {
    assert.ok(accepts({ properties: { q: { nullable: true, minLength: 1 } } }, { q: "a" }));
    const verdict = compileSchema({ properties: { q: { ...string, nullable: true } } }).check({ q: null });
    assert.deepEqual(verdict, { ok: true, value: { q: null }, coercions: [] });
  });
});

describe("references in a tool schema", () => {
  it("lead by pointer, by anchor and behind the document's own $id", () => {
    const $defs = { "a/b": string, c: { $anchor: "c", type: "integer" } };
    const properties = {
      x: { $ref: "#/$defs/a~1b" },
      y: { $ref: "#c" },
      z: { $ref: "https://example.com/tool#/$defs/c" },
    };
    const document = { $id: "https://example.com/tool", type: "object", properties, $defs };
    assert.ok(accepts(document, { x: "s", y: 1, z: 2 }));
    for (const wrong of [{ x: 1 }, { y: "s" }, { z: "s" }]) assert.ok(!accepts(document, wrong));
  });

  it("may be recursive through members and elements", () => {
    const tree = {
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#" } } },
      required: ["kids"],
    };
    assert.ok(accepts(tree, { kids: [{ kids: [{ kids: [] }] }] }));
    assert.ok(!accepts(tree, { kids: [{ kids: [{}] }] }));
  });

  it("are refused where they lead nowhere, elsewhere or in a circle", () => {
    assert.deepEqual(faultsOf({ properties: { q: { $ref: "#/$defs/x" } } }), [
      ["/properties/q/$ref", "ref_unresolved"],
    ]);
    assert.deepEqual(faultsOf({ properties: { q: { $ref: "#/%" } } }), [
      ["/properties/q/$ref", "ref_unresolved"],
    ]);
    assert.deepEqual(faultsOf({ properties: { q: { $ref: "other.json" } } }), [
      ["/properties/q/$ref", "ref_not_local"],
    ]);
    const circle = {
      properties: { q: { $ref: "#/$defs/a" } },
      $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } },
    };
    assert.deepEqual(faultsOf(circle), [["/$defs/a", "ref_cycle"]]);
  });
});

describe("the faults of a tool schema", () => {
  it("are listed together, each with its place", () => {
    const document = {
      type: "object",
      $async: true,
      properties: {
        a: { type: "any" },
        b: { ...string, pattern: "(?<=x)y" },
        c: { type: "integer", minimum: 2, maximum: 1 },
        'd"': string,
      },
      required: ["toString"],
    };
    const listed = faultsOf(document).map(([path, reason]) => `${path} ${reason}`);
    assert.deepEqual(
      listed.sort(),
      [
        "/$async keyword_not_allowed",
        '/properties/d" name_not_allowed',
        "/properties/b/pattern pattern_unsupported",
        "/properties/c/minimum schema_unsatisfiable",
        "/required name_not_allowed",
      ].sort(),
    );
  });

  it("of its shape are those of the meta-schema", () => {
    assert.deepEqual(faultsOf({ properties: { a: { type: "any" } } })[0], [
      "/properties/a/type",
      "schema_invalid",
    ]);
    assert.deepEqual(faultsOf({ required: "a" }), [["/required", "schema_invalid"]]);
  });

  it("are at most so many that they can be read", () => {
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, { $ref: "x" }]));
    assert.equal(faultsOf({ properties }).length, MAX_FAULTS);
  });

  it("have a message that names the first place", () => {
    assert.throws(
      () => compileSchema({ type: "array" }),
      /^SchemaRejected: \/: must be the schema of an object/,
    );
  });
});
