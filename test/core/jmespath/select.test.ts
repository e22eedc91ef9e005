import assert from "node:assert/strict";
import { test } from "node:test";
import { search } from "@jmespath-community/jmespath";
import fc from "fast-check";
import { compileSelect, membersOf, SelectFault } from "../../../src/core/jmespath/compile-select.ts";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

function parse(text: string): JsonValue {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  parser.end();
  return parser.value as JsonValue;
}

function select(expression: string, text: string): string {
  const said = compileSelect(expression)(parse(text));
  return "found" in said ? stringifyJson(said.found) : `failed: ${said.failed}`;
}

const BIG = "12345678901234567890";
const EXACT = '{"items":[{"id":12345678901234567890,"v":1e400},{"id":-0,"v":0.10000000000000000000000001}]}';

for (const [expression, data, expected] of [
  ["items[*].id", EXACT, `[${BIG},-0]`],
  ["items[].{a: id, b: v}", EXACT, `[{"a":${BIG},"b":1e400},{"a":-0,"b":0.10000000000000000000000001}]`],
  ["items[0]", EXACT, `{"id":${BIG},"v":1e400}`],
  ["items[::-1].v", EXACT, "[0.10000000000000000000000001,1e400]"],
  ["reverse(items)[*].v", EXACT, "[0.10000000000000000000000001,1e400]"],
  ["max(items[*].id)", EXACT, BIG],
  ["sort(items[*].id)", EXACT, `[-0,${BIG}]`],
  ["items[?id > `1`].id", EXACT, `[${BIG}]`],
  ["to_string(items[0].id)", EXACT, `"${BIG}"`],
  ["to_number('12345678901234567890')", "{}", BIG],
  ["a + `1`", '{"a":9007199254740991}', "9007199254740992"],
  ["a * a", `{"a":${BIG}}`, String(12345678901234567890n ** 2n)],
  ["sum([a, a])", `{"a":${BIG}}`, "24691357802469135780"],
  ["values(@)", "[1]", 'failed: "values" takes no array as argument 1'],
  ["merge(items[0], {v: items[1].v})", EXACT, `{"id":${BIG},"v":0.10000000000000000000000001}`],
  ["{__proto__: a}.__proto__", '{"a":1}', "1"],
  ["constructor", "{}", "null"],
  ["items[?contains(name, 'b')].name", '{"items":[{"name":"ab"},{"name":"c"}]}', '["ab"]'],
  ["let $x = a in items[?n == $x].n", '{"a":2,"items":[{"n":1},{"n":2}]}', "[2]"],
  ["trim('  a b ')", "{}", '"a b"'],
  ["nothing", '{"a":1}', "null"],
] as const) {
  test(`select ${expression} of ${data.slice(0, 40)}`, () => {
    assert.equal(select(expression, data), expected);
  });
}

for (const [expression, position, message] of [
  ["a..b", 2, "it is not valid JMESPath"],
  ["a.b c", 4, "it is not valid JMESPath"],
  ["a[?b == 'x'", 11, "it is not valid JMESPath"],
  ["a#b", 1, "it is not valid JMESPath"],
  ["", 0, "it is not valid JMESPath"],
  ["a | nope(b)", 4, 'there is no function "nope"'],
  ["sort_by(a, b)", 0, 'argument 2 of "sort_by" is an expression with & before it'],
  ["[join(a)]", 1, '"join" takes 2 arguments'],
  ["a[?b == `12345678901234567890`]", 8, "it has a number with more digits than can be compared"],
  ["a[?b = c]", 5, "= stands behind let only; to compare, write =="],
  ["$x", 0, "nothing is bound to $x"],
  ["[&a]", 1, "& stands in the arguments of functions only"],
  ["a[::0]", 2, "the step of a slice is not 0"],
  ["a".repeat(1025), 1024, "it is longer than 1024 characters"],
] as const) {
  test(`a fault with its position: ${expression.slice(0, 40)}`, () => {
    assert.throws(
      () => compileSelect(expression),
      (error) =>
        error instanceof SelectFault &&
        assert.deepEqual([error.position, error.message], [position, message]) === undefined,
    );
  });
}

const name = fc.constantFrom("a", "b", "c");
const { expression: anyExpression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie("expression");
  return {
    expression: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.oneof(
        name,
        fc.constantFrom("@", "$", "*", "[*]", "[]", "[0]", "[-1]", "[1:]", "[::-1]", "`1`", "'a'", "`null`"),
      ),
      fc.tuple(inner, name).map(([left, right]) => `${left}.${right}`),
      fc.tuple(inner, fc.constantFrom("[*]", "[]", "[0]", "[:2]", ".*")).map((pair) => pair.join("")),
      fc.tuple(inner, inner).map(([left, right]) => `${left}[?${right}]`),
      fc
        .tuple(inner, fc.constantFrom("|", "||", "&&", "==", "!=", "<", ">="), inner)
        .map((three) => `(${three.join(" ")})`),
      fc.tuple(inner, inner).map(([left, right]) => `[${left}, ${right}]`),
      fc.tuple(inner, inner).map(([left, right]) => `{x: ${left}, y: ${right}}`),
      inner.map((one) => `!${one}`),
      fc
        .tuple(
          fc.constantFrom(
            "length",
            "keys",
            "values",
            "type",
            "to_array",
            "to_string",
            "reverse",
            "not_null",
            "sum",
            "avg",
            "items",
          ),
          inner,
        )
        .map(([named, one]) => `${named}(${one})`),
      fc.tuple(inner, inner).map(([left, right]) => `map(&${left}, ${right})`),
      fc.tuple(inner, inner).map(([left, right]) => `contains(${left}, ${right})`),
    ),
  };
});

test("what the reference implementation finds is found", () => {
  const data = fc
    .jsonValue({ maxDepth: 4 })
    .map((value) => ({ a: [value, { a: 1, b: "a" }, { b: [2, 3], c: null }], b: value, c: "abc" }));
  fc.assert(
    fc.property(anyExpression, data, (expression, value) => {
      const text = JSON.stringify(value);
      let expected: string;
      try {
        expected = JSON.stringify(search(JSON.parse(text), expression));
      } catch {
        return;
      }
      // It compares with === where values are equal, and finds what Object.prototype has.
      if (/contains|-0|__proto__|e\+|\d{16}/.test(expression + text)) return;
      const said = compileSelect(expression)(parse(text));
      assert.ok("found" in said, `${expression}: ${"failed" in said && said.failed}`);
      assert.equal(stringifyJson(said.found), expected, expression);
    }),
    { numRuns: 3000 },
  );
});

const ROWS = JSON.stringify({
  items: Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id % 997}`, tags: ["x", "y"] })),
});
const LONG = JSON.stringify({ text: "a ".repeat(500_000) });

for (const [expression, data] of [
  ["sort_by(items, &name)[*].name", ROWS],
  ["join(',', items[*].name)", ROWS],
  ["items[].tags[]", ROWS],
  ["group_by(items, &name)", ROWS],
  ["items[?contains($.items[*].id, id)]", ROWS],
  ["items[*].{x: $.items}", ROWS],
  ["items[*].to_string($)", ROWS],
  ["map(&map(&id, $.items), items)", ROWS],
  [Array(60).fill("[@, @]").join(" | "), '{"a":1}'],
  [Array(60).fill("[@, @][]").join(" | "), '{"a":1}'],
  [`'ab' | ${Array(50).fill("join('',[@,@])").join("|")}`, "{}"],
  ["pad_left('a', `999999999999`)", "{}"],
  ["replace(text, 'a', 'bbbbbbbb', `999999999`)", LONG],
  ["trim_right(text, 'b')", LONG],
  ["split(text, ' ')", LONG],
  [`${"!".repeat(1_000)}a`, '{"a":1}'],
] as const) {
  test(`the work is bounded: ${expression.slice(0, 50)}`, () => {
    const value = parse(data);
    const compiled = compileSelect(expression);
    const startedAt = performance.now();
    compiled(value);
    const ms = performance.now() - startedAt;
    assert.ok(ms < 2_000, `${ms} ms`);
  });
}

test("the members where an expression could begin", () => {
  assert.deepEqual(membersOf({ a: 1, b: 2 }), ["a", "b"]);
  assert.deepEqual(membersOf([{ c: 1 }, { d: 1 }]), ["c"]);
  assert.deepEqual(membersOf("x"), []);
});
