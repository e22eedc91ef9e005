import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { canonicalText, exactNumber, isMultipleOf } from "../../../src/core/schema/exact-number.ts";

const HUGE = 2n ** 63n;

function accepts(v: JsonObject, value: JsonValue): boolean {
  return compileSchema({ properties: { v } }).check({ v: value }).ok;
}

describe("integers beyond 2^53", () => {
  it("are integers and numbers, and come back as they were", () => {
    for (const type of ["integer", "number"]) {
      const given = { v: HUGE };
      const verdict = compileSchema({ properties: { v: { type } } }).check(given);
      assert.equal(verdict.ok && verdict.value, given);
    }
    assert.ok(accepts({ type: "integer" }, 10n ** 400n));
    assert.ok(!accepts({ type: "string" }, HUGE));
  });

  it("are compared digit for digit by every keyword", () => {
    const near = HUGE + 1n;
    assert.ok(accepts({ maximum: HUGE }, HUGE) && !accepts({ maximum: HUGE }, near));
    assert.ok(accepts({ minimum: near }, near) && !accepts({ minimum: near }, HUGE));
    assert.ok(!accepts({ exclusiveMaximum: HUGE }, HUGE) && accepts({ exclusiveMinimum: HUGE }, near));
    assert.ok(accepts({ const: HUGE }, HUGE) && !accepts({ const: HUGE }, near));
    assert.ok(accepts({ enum: [1, HUGE] }, HUGE) && !accepts({ enum: [1, HUGE] }, near));
    assert.ok(
      accepts({ const: { a: [HUGE] } }, { a: [HUGE] }) && !accepts({ const: { a: [HUGE] } }, { a: [near] }),
    );
    assert.ok(accepts({ multipleOf: 2 }, HUGE) && !accepts({ multipleOf: 2 }, near));
    assert.ok(accepts({ uniqueItems: true }, [HUGE, near]) && !accepts({ uniqueItems: true }, [HUGE, HUGE]));
  });

  it("are compared so inside references, elements and branches", () => {
    const document = {
      properties: { v: { type: "array", items: { $ref: "#/$defs/small" } } },
      $defs: { small: { anyOf: [{ type: "string" }, { maximum: HUGE }] } },
    };
    const schema = compileSchema(document);
    assert.ok(schema.check({ v: [HUGE, "x", 1] }).ok);
    assert.ok(!schema.check({ v: [1, HUGE + 1n] }).ok);
  });
});

describe("equality of values", () => {
  it("does not look at the order of members or the spelling of numbers", () => {
    assert.ok(accepts({ const: { a: 1, b: [1] } }, { b: [1.0], a: 1 }));
    assert.ok(
      !accepts({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    );
    assert.ok(accepts({ uniqueItems: true }, [1, "1", true, "true", [1], ["1"], null, "null"]));
  });

  it("tells values apart exactly if they differ as JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [left, right] = [a as JsonValue, b as JsonValue];
        const same = isDeepStrictEqual(copy(left), copy(right));
        assert.equal(canonicalText(left) === canonicalText(right), same);
      }),
    );
  });
});

describe("multipleOf", () => {
  it("divides decimals", () => {
    for (const [value, divisor] of [
      [19.99, 0.01],
      [0.3, 0.1],
      [1e300, 1e-300],
      [0, 0.7],
      [-4.5, 1.5],
    ] as const) {
      assert.ok(isMultipleOf(value, divisor), `${value} / ${divisor}`);
    }
    for (const [value, divisor] of [
      [19.999, 0.01],
      [1, 3],
      [1e-300, 1],
    ] as const) {
      assert.ok(!isMultipleOf(value, divisor), `${value} / ${divisor}`);
    }
  });

  it("holds for every product of an integer and a cent", () => {
    fc.assert(fc.property(fc.integer(), (cents) => isMultipleOf(Number(`${cents}e-2`), 0.01)));
  });
});

describe("the number that a text says", () => {
  it("is what JSON.parse reads, wherever a double keeps all digits", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        assert.equal(Number(exactNumber(JSON.stringify(number))), number + 0);
      }),
    );
  });

  it("is every integer, digit for digit", () => {
    fc.assert(fc.property(fc.bigInt(), (integer) => BigInt(exactNumber(String(integer)) ?? "0") === integer));
  });

  it("is none for other texts", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text);
        assert.ok(isNumber || exactNumber(text) === undefined);
      }),
    );
  });
});

/** -0 becomes 0 on the way through JSON. */
function copy(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value));
}
