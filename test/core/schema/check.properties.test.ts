import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import type { JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import type { CompiledSchema } from "../../../src/core/schema/compiled-schema.ts";
import { explain } from "../../../src/core/schema/message.ts";
import { argumentsOf, schemas } from "./schema-arbitrary.ts";

const RUNS = { numRuns: 150 };

describe("any schema and any arguments", () => {
  it("get a verdict: the arguments as they are, coerced ones that are valid, or problems with a message", () => {
    const counts = { asIs: 0, coerced: 0, refused: 0 };
    fc.assert(
      fc.property(schemas, fc.array(argumentsOf, { minLength: 1, maxLength: 8 }), (document, all) => {
        const schema = compileSchema(document);
        for (const value of all) counts[judge(schema, value)]++;
      }),
      RUNS,
    );
    assert.ok(Math.min(counts.asIs, counts.coerced, counts.refused) > 0, JSON.stringify(counts));
  });

  it("leave the arguments as they were given", () => {
    fc.assert(
      fc.property(schemas, argumentsOf, (document, value) => {
        const before = structuredClone(value);
        compileSchema(document).check(value);
        assert.deepEqual(value, before);
      }),
      RUNS,
    );
  });

  it("are judged as plain ajv judges them, where nothing is coerced", () => {
    fc.assert(
      fc.property(schemas, argumentsOf, (document, value) => {
        fc.pre(!hasBigint(value));
        // Where the root says it itself, nothing is added to it.
        const open = { additionalProperties: false, ...document };
        const verdict = compileSchema(open).check(value);
        const plain = new Ajv2020({ strict: false, logger: false, ownProperties: true });
        const expected = plain.validate(open, value);
        assert.equal(verdict.ok && verdict.coercions.length === 0, expected);
      }),
      RUNS,
    );
  });

  it("get the same verdict again", () => {
    fc.assert(
      fc.property(schemas, argumentsOf, (document, value) => {
        const schema = compileSchema(document);
        assert.deepEqual(schema.check(value), schema.check(value));
      }),
      { numRuns: 100 },
    );
  });
});

/** Asserts what holds for any verdict, and says which it is. */
function judge(schema: CompiledSchema, value: JsonValue): "asIs" | "coerced" | "refused" {
  const verdict = schema.check(value);
  if (!verdict.ok) {
    assert.ok(verdict.problems.length > 0 && verdict.problems.length <= 8);
    for (const problem of verdict.problems) assert.notEqual(explain(problem, "en"), explain(problem, "zh"));
    return "refused";
  }
  if (verdict.coercions.length === 0) {
    assert.equal(verdict.value, value);
    return "asIs";
  }
  assert.deepEqual(schema.check(verdict.value), { ok: true, value: verdict.value, coercions: [] });
  return "coerced";
}

function hasBigint(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "bigint";
  return Object.values(value).some(hasBigint);
}
