import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { quantity } from "../../../src/core/rules/quantity.ts";

const LENGTHS = new Map([
  ["m", 1],
  ["km", 1000],
  ["mm", 0.001],
  ["公里", 1000],
]);

for (const [text, value] of [
  ["5 km", 5000],
  ["5km", 5000],
  ["1.1 km", 1100],
  ["7 mm", 0.007],
  ["3 m", 3],
  ["三公里", 3000],
  ["三点五公里", 3500],
  ["-2 km", -2000],
  ["0 km", 0],
  ["9007199254740993 km", 9007199254740993000n],
] as const) {
  test(`${text} is ${value}`, () => assert.equal(quantity(text, LENGTHS), value));
}

for (const text of ["5", "km", "5 miles", "5 KM", "five km", "5 k m", ""]) {
  test(`"${text}" is no length`, () => assert.equal(quantity(text, LENGTHS), undefined));
}

test("quantities are multiplied as decimals, without the errors of doubles", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), (cents) => {
      const [sign, digits] = [cents < 0 ? "-" : "", String(Math.abs(cents)).padStart(3, "0")];
      const text = `${sign}${digits.slice(0, -2)}.${digits.slice(-2)} km`;
      assert.equal(quantity(text, LENGTHS), cents * 10 + 0, text);
    }),
  );
});
