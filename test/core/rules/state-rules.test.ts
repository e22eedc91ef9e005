import assert from "node:assert/strict";
import { test } from "node:test";
import { readStateRules, type StateFacts, type StateMembers } from "../../../src/core/rules/state-rules.ts";
import type { ErrorDetail } from "../../../src/errors.ts";

const FACTS: StateFacts = {
  now: Date.UTC(2026, 0, 2),
  sessionId: "s1",
  caller: { name: "app", level: "write" },
  state: { customer: "c7", count: 2, list: [1, 2] },
  toolsUsed: { find: 3 },
};
const PARAMETERS = { type: "object", properties: { n: { type: "integer" }, who: { type: "string" } } };

function compiled(members: StateMembers) {
  const faults: ErrorDetail[] = [];
  return { rules: readStateRules({ parameters: PARAMETERS, ...members }, faults), faults };
}

const objection = (check: string, message?: string) =>
  compiled({ requires: [{ check, ...(message && { message }) }] }).rules.objection({ n: 2 }, FACTS, "en");

for (const check of [
  "has(state.customer)",
  'state.customer == "c7" && state.count == 2',
  "tools_used.find >= 3",
  '!("other" in tools_used)',
  "args.n == state.count",
  'session.id == "s1" && caller.level == "write"',
  "now < timestamp('2027-01-01T00:00:00Z')",
  "state.list.all(x, x > 0)",
]) {
  test(`${check} holds`, () => assert.equal(objection(check), undefined));
}

test("the first condition that does not hold is told with its message, or in general words", () => {
  assert.deepEqual(objection('state.customer == "c8"', "Identify first."), {
    rule: "1",
    feedback: "Identify first.",
  });
  assert.match(objection("has(state.nobody)")?.feedback ?? "", /cannot be used yet/);
});

test("a condition that cannot be evaluated does not hold", () => {
  assert.match(objection("state.nobody == 1")?.feedback ?? "", /cannot be applied/);
});

test("values are computed from arguments, result and state", () => {
  const { rules, faults } = compiled({
    sets: {
      who: "args.who",
      id: "result.id",
      count: "state.count + 1.0",
      seen: "now",
      pair: "[args.who, result.id]",
      map: '{"a": result.list[0]}',
      gone: "null",
      used: "tools_used.find",
    },
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(rules.changes({ who: "x" }, { id: "r1", list: [5] }, FACTS), {
    state: {
      who: "x",
      id: "r1",
      count: 3,
      seen: "2026-01-02T00:00:00.000Z",
      pair: ["x", "r1"],
      map: { a: 5 },
      gone: null,
      used: 3,
    },
    faults: [],
  });
});

test("an expression that comes to nothing is named, and the others count", () => {
  const { rules } = compiled({
    sets: { good: "args.who", bad: "result.no.where", big: "result.big", bytes: 'b"x"' },
  });
  const { state, faults } = rules.changes({ who: "x" }, { big: 2n ** 60n }, FACTS);
  assert.deepEqual(state, { good: "x" });
  assert.deepEqual(
    faults.map(({ key }) => key),
    ["bad", "big", "bytes"],
  );
});

test("__proto__ in a result stays data", () => {
  const { rules } = compiled({ sets: { all: "result" } });
  const result = JSON.parse('{"__proto__":{"x":1}}');
  const { state } = rules.changes({}, result, FACTS);
  assert.equal(JSON.stringify(state), '{"all":{"__proto__":{"x":1}}}');
});

for (const [members, path] of [
  [{ requires: [{ check: "state." }] }, "requires[0].check"],
  [{ requires: [{ check: "true" }, { check: "args.nobody == 1" }] }, "requires[1].check"],
  [{ requires: [{ check: "result.x == 1" }] }, "requires[0].check"],
  [{ requires: [{ check: "1 + 1" }] }, "requires[0].check"],
  [{ sets: { a: "unknown_variable" } }, "sets.a"],
  [{ sets: { a: "eval('x')" } }, "sets.a"],
] as [StateMembers, string][]) {
  test(`${JSON.stringify(members)} is a fault`, () => {
    assert.deepEqual(
      compiled(members).faults.map((fault) => [fault.reason, fault.path]),
      [["invalid_expression", path]],
    );
  });
}

test("an endless amount of work ends", () => {
  const list = Array.from({ length: 1_000 }, (_, n) => n);
  const { rules } = compiled({ sets: { a: "result.map(x, result.map(y, x + y))" } });
  const from = performance.now();
  assert.equal(rules.changes({}, list, FACTS).faults.length, 1);
  assert.ok(performance.now() - from < 500);
});
