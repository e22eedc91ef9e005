import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../src/core/json/value.ts";
import { toCel } from "../../../src/core/rules/cel-environment.ts";
import { compileExpression, type ExpressionContext } from "../../../src/core/rules/expression.ts";
import { Meter } from "../../../src/core/rules/meter.ts";
import { Patterns } from "../../../src/core/schema/pattern.ts";

const ARGS: JsonObject = {
  start: "2024-01-01",
  end: "2024-02-01",
  qty: 5,
  price: 2.5,
  huge: 12345678901234567890n,
  text: "abc",
  list: [1, 2, 3],
  items: [
    { qty: 1, price: 2.5 },
    { qty: 2, price: 3 },
  ],
  nothing: null,
  yes: true,
};

function context(): ExpressionContext {
  const meter = new Meter();
  const known = new Map([
    ["args", undefined],
    ["session", new Set(["id"])],
    ["caller", new Set(["name", "level"])],
  ]);
  return { meter, patterns: new Patterns(meter), known };
}

function evaluate(source: string, args: JsonObject = ARGS) {
  const expression = compileExpression(source, context());
  assert.ok(!Array.isArray(expression), `${source}: ${JSON.stringify(expression)}`);
  return expression.evaluate({
    args: toCel(args),
    now: new Date("2024-03-01T10:00:00Z"),
    session: { id: "s1" },
    caller: { name: "app", level: "write" },
  });
}

const faultsOf = (source: string) => {
  const faults = compileExpression(source, context());
  assert.ok(Array.isArray(faults), `${source} was accepted`);
  return faults;
};

for (const source of [
  "args.start <= args.end",
  "args.qty + 1 == 6 && 1 + args.qty == 6",
  "args.qty % 2 == 1",
  "args.qty / 2 == 2.5",
  "args.qty in [1, 5]",
  "size(args.list) <= args.qty",
  "args.huge > args.qty && args.huge == 12345678901234567890",
  "!has(args.absent) && has(args.qty)",
  "args.nothing == null && args.text != null",
  'args.text.matches("^[a-z]+$")',
  "args.list.all(n, n > 0) && args.list.exists(n, n == 2)",
  "args.list.exists(a, args.list.exists(b, a + b == 6))",
  "sum(args.items.map(i, i.qty * i.price)) == 8.5",
  'date(args.start) < now && now - date(args.end) > duration("24h")',
  'now.getHours("Asia/Shanghai") == 18',
  'caller.level == "write" && session.id == "s1"',
  '"qty" in args && args["qty"] == 5',
  "[1, args.qty].exists(n, n == 5)",
  "args.qty > 0 ? args.yes : false",
]) {
  test(`holds: ${source}`, () => assert.deepEqual(evaluate(source), { holds: true }));
}

test("numbers beyond 2^53 are compared digit for digit", () => {
  const huge = { huge: 9007199254740993n };
  assert.deepEqual(evaluate("args.huge == 9007199254740993", huge), { holds: true });
  assert.deepEqual(evaluate("args.huge == 9007199254740992", huge), { holds: false });
});

for (const [source, reason] of [
  ["args.absent == 1", /No such key: absent/],
  ["args.text > 5", /no such overload/],
  ["args.text", /does not come to true or false/],
  ["args.list[7] == 1", /out of bounds/],
  ["args.qty % 0 == 1", /modulo by zero/],
  ["date(args.text) < now", /"abc" is not a date/],
  ["sum([args.text]) == 1", /list of numbers/],
  ['args.qty.matches("5")', /needs a string/],
  ['now.getHours("Nowhere/City") == 1', /time zone/],
] as const) {
  test(`cannot be evaluated: ${source}`, () => {
    const outcome = evaluate(source);
    assert.match("reason" in outcome ? outcome.reason : "it was evaluated", reason);
  });
}

for (const [source, at, message] of [
  ["args.start <=", 13, /Unexpected token/],
  ["args.start <= (", 15, /Unexpected token/],
  ["other == 1", 0, /Unknown variable: other/],
  ['"a" + 1 == "a1"', 0, /no such overload/],
  ["size(args.list) + 1", 0, /must come to a boolean/],
  ["1 == 1 && caller.secret == 1", 10, /"caller" has no member "secret"/],
  ["args.qty == 1 && nope(args.qty)", 17, /nope\(\) cannot be used/],
  ["true && args.text.matches(args.text)", 8, /one string literal/],
  ['args.text.matches("(?=x)")', 0, /look-around is not supported/],
  ['args.text.matches("(")', 0, /cannot be used/],
  ["args.a.exists(x, args.a.exists(y, args.a.exists(z, x == z)))", 34, /more than 2 loops/],
  ["true || ".repeat(400), 0, /longer than 2000 characters/],
] as const) {
  test(`refused: ${source.slice(0, 60)}`, () => {
    const [fault] = faultsOf(source);
    assert.match(`${fault?.message}`, message);
    assert.equal(fault?.at, at);
  });
}

for (const source of [
  "!".repeat(1_999),
  `${"(".repeat(999)}true${")".repeat(999)}`,
  `${"true && ".repeat(249)}true`,
  `[${"1,".repeat(300)}1].size() > 0`,
]) {
  test(`too large to be read: ${source.slice(0, 20)} of ${source.length} characters`, () => {
    assert.equal(faultsOf(source).length, 1);
  });
}
