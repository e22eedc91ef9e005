import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { repairJson } from "../../../src/core/json/repair.ts";
import { REPAIR_NAMES, type RepairName } from "../../../src/core/json/repair-names.ts";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import { anyDice, anyFaults, anyObject, type Misspelling, misspell } from "./misspelling.ts";

const strict = (text: string) => {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  parser.end();
  return parser;
};

const sorted = (names: Iterable<RepairName>) => [...names].sort();

/** The cuts of a text that do not hold the whole object yet. */
function* cuts({ text }: Misspelling): Generator<string> {
  const end = text.lastIndexOf("}");
  for (let at = 0; at <= end; at++) yield text.slice(0, at);
}

describe("repairJson: for any object", () => {
  for (const fault of REPAIR_NAMES) {
    test(`spelt with ${fault}, it is read exactly, and that is what is said to be repaired`, () => {
      fc.assert(
        fc.property(anyObject, anyDice, (value, dice) => {
          const { text, used } = misspell(value, [fault], dice);
          fc.pre(used.size > 0);
          assert.deepEqual(repairJson(text), { value, repairs: [fault] });
        }),
        { numRuns: 150 },
      );
    });
  }

  test("spelt with any faults together, it is read exactly", () => {
    fc.assert(
      fc.property(anyObject, anyFaults, anyDice, (value, faults, dice) => {
        const { text, used } = misspell(value, faults, dice);
        fc.pre(used.size > 0);
        const repair = repairJson(text);
        assert.deepEqual(repair?.value, value, text);
        assert.deepEqual(sorted(repair?.repairs ?? []), sorted(used));
        assert.deepEqual(Object.keys(repair?.value ?? {}), Object.keys(value));
      }),
      { numRuns: 1500 },
    );
  });

  test("spelt as JSON it is not touched, and has no repair", () => {
    fc.assert(
      fc.property(anyObject, anyDice, (value, dice) => {
        const { text } = misspell(value, [], dice);
        assert.deepEqual(strict(text).value, value);
        assert.equal(repairJson(text), undefined);
      }),
    );
  });

  test("cut off anywhere, in any spelling, it is not completed", () => {
    fc.assert(
      fc.property(anyObject, anyFaults, anyDice, (value, faults, dice) => {
        for (const cut of cuts(misspell(value, faults, dice))) assert.equal(repairJson(cut), undefined, cut);
      }),
      { numRuns: 150 },
    );
  });

  test("with another object behind it, it is not one call", () => {
    fc.assert(
      fc.property(anyObject, anyObject, anyFaults, anyDice, (one, other, faults, dice) => {
        const first = misspell(one, faults, dice).text;
        for (const between of ["", "\n", ",", " and then "])
          assert.equal(repairJson(first + between + stringifyJson(other)), undefined);
      }),
      { numRuns: 150 },
    );
  });
});

describe("repairJson: for any text", () => {
  test("a cut of valid JSON with any root is never repaired", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        for (let at = 0; at <= text.length; at++) assert.equal(repairJson(text.slice(0, at)), undefined);
      }),
    );
  });

  test("a quote inside a string is never guessed, whatever else is repaired", () => {
    const words = fc.stringMatching(/^ ?[a-z][a-z ,.;]{0,12}$/);
    fc.assert(
      fc.property(words, words, anyFaults, anyDice, (before, behind, faults, dice) => {
        const { text } = misspell({ a: 1, text: "INNER", b: "x" }, faults, dice);
        const quote = text.charAt(text.indexOf("INNER") - 1);
        const broken = text.replace("INNER", () => before + quote + behind);
        assert.equal(repairJson(broken), undefined, broken);
      }),
    );
  });

  test("garbage is refused or read, but throws nothing, and a repair says what it did", () => {
    const scrap = fc.constantFrom(
      ..."{}[],:\"'“”‘\\/*#` \n\ufeff-1.ek",
      "True",
      "null",
      '"k":',
      "k:",
      "//",
      "/*",
      "*/",
      "```json",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(scrap, { maxLength: 25 }).map((parts) => parts.join("")),
      fc.array(scrap, { maxLength: 12 }).map((parts) => `{${parts.join("")}}`),
    );
    fc.assert(
      fc.property(text, (garbage) => {
        const repair = repairJson(garbage);
        if (!repair) return;
        assert.ok(repair.repairs.length > 0);
        assert.equal(strict(garbage).status, "failed", "what is JSON has no repair");
      }),
      { numRuns: 5000 },
    );
  });
});
