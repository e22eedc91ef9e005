import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonValue } from "../../../src/core/json/value.ts";
import { type Normalised, normalise } from "../../../src/core/rules/normaliser.ts";
import { readStep, STEP_NAMES, type Step } from "../../../src/core/rules/steps.ts";
import { parseValuePath } from "../../../src/core/rules/value-path.ts";

function steps(...written: unknown[]): Step[] {
  return written.map((each) => {
    const step = readStep(each, "normalize.x[0]");
    assert.ok(typeof step === "function", JSON.stringify(step));
    return step;
  });
}

function changed(
  value: JsonValue,
  path: string,
  ...written: unknown[]
): { value: JsonValue; changes: Normalised[] } {
  const changes: Normalised[] = [];
  const normaliser = { path: parseValuePath(path) ?? [], steps: steps(...written) };
  return { value: normalise(value, [normaliser], changes), changes };
}

const one = (value: JsonValue, ...written: unknown[]) => changed({ x: value }, "x", ...written).value;

for (const [step, from, to] of [
  ["trim", " a　", "a"],
  ["lower", "ÀB", "àb"],
  ["upper", "ab", "AB"],
  ["collapse_spaces", "a  b　\n c", "a b c"],
  ["digits", "房间１２", "房间12"],
  ["date", "2024/1/2", "2024-01-02"],
  ["chinese_number", "十二", 12],
  [{ strip_suffix: ["市", "省"] }, "北京市", "北京"],
  [{ strip_suffix: "市" }, "市", "市"],
  [{ strip_prefix: ["#"] }, "#7", "7"],
  [{ map: { BJ: "北京", yes: true, none: null, five: 5 } }, "BJ", "北京"],
  [{ map: { yes: true } }, "yes", true],
  [{ map: { none: null } }, "none", null],
  [{ unit: { km: 1000, m: 1 } }, "1.5 km", 1500],
] as const) {
  test(`${JSON.stringify(step)} makes ${JSON.stringify(from)} ${JSON.stringify(to)}`, () => {
    assert.deepEqual(one(from, step), { x: to });
  });
}

test("what a step does not understand stays as it is", () => {
  for (const value of [
    "someday",
    5,
    true,
    null,
    ["2024/1/1"],
    { a: "十" },
    12345678901234567890n,
  ] as JsonValue[]) {
    for (const step of ["date", "chinese_number", { unit: { km: 1 } }, { map: { a: "b" } }]) {
      assert.deepEqual(one(value, step), { x: value });
    }
  }
});

test("the steps of a parameter run in order, and until they change nothing", () => {
  assert.deepEqual(one(" BEIJING ", "trim", "lower", { map: { beijing: "北京" } }), { x: "北京" });
  assert.deepEqual(one("北京市 市", { strip_suffix: ["市"] }, "trim"), { x: "北京" });
});

test("each place that a path leads to is changed and noted, and nothing else", () => {
  const value = {
    stops: [{ city: "北京市" }, { city: "上海" }, 5],
    range: { from: "2024/1/1" },
    other: "北京市",
  };
  const { value: cities, changes } = changed(value, "stops[].city", { strip_suffix: ["市"] });
  assert.deepEqual(cities, { ...value, stops: [{ city: "北京" }, { city: "上海" }, 5] });
  assert.deepEqual(changes, [{ path: "/stops/0/city", from: "北京市", to: "北京" }]);
  assert.deepEqual(changed(value, "range.from", "date").changes, [
    { path: "/range/from", from: "2024/1/1", to: "2024-01-01" },
  ]);
  assert.equal(changed(value, "absent.x", "trim").value, value);
  assert.equal(value.stops[0] && typeof value.stops[0] === "object" && value.stops[0].city, "北京市");
});

test("a member named __proto__ is one like any other", () => {
  const value = JSON.parse('{"__proto__":" a "}') as JsonValue;
  assert.deepEqual(changed(value, "__proto__", "trim").value, JSON.parse('{"__proto__":"a"}'));
});

test("doing it twice changes nothing more", () => {
  const step = fc.constantFrom<unknown>(
    ...STEP_NAMES.filter((name) => typeof readStep(name, "x") === "function"),
    { strip_suffix: ["a", "市", " "] },
    { strip_prefix: ["b", "-"] },
    { map: { ab: "ba", AB: 5 } },
    { unit: { a: 2, 市: 10 } },
  );
  const text = fc.string({ unit: fc.constantFrom(..."abAB市 -十二1２/年月"), maxLength: 12 });
  fc.assert(
    fc.property(text, fc.array(step, { minLength: 1, maxLength: 4 }), (value, written) => {
      const first = one(value, ...written);
      const again = changed(first, "x", ...written);
      assert.deepEqual(again.value, first);
      assert.deepEqual(again.changes, []);
    }),
  );
});

for (const [step, said] of [
  ["tirm", /no step "tirm"; did you mean "trim"/],
  ["map", /"map" needs an option/],
  [{ trim: true }, /"trim" has no option/],
  [{ date: {} }, /"date" has no option/],
  [{}, /the name of a step/],
  [{ map: {}, unit: {} }, /the name of a step/],
  [5, /the name of a step/],
  [{ map: {} }, /must be an object of up to/],
  [{ map: { a: ["b"] } }, /must be an object of up to/],
  [{ map: { a: "b", b: "c" } }, /maps "a" to "b", which is mapped again/],
  [{ strip_suffix: [] }, /must be a text/],
  [{ strip_suffix: [5] }, /must be a text/],
  [{ unit: { km: 0 } }, /positive number/],
  [{ unit: { km: "1" } }, /positive number/],
  [{ unit: { m2: 1 } }, /positive number/],
] as const) {
  test(`the step ${JSON.stringify(step)} is refused`, () => {
    const fault = readStep(step, "normalize.x[0]");
    assert.ok(typeof fault === "object");
    assert.match(`${fault.message}`, said);
  });
}
