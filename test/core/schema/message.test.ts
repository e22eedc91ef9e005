import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { explain, type Locale, MAX_MESSAGE } from "../../../src/core/schema/message.ts";
import type { Problem } from "../../../src/core/schema/problem.ts";

function said(document: JsonObject, value: JsonValue, locale: Locale = "en"): string {
  const verdict = compileSchema(document).check(value);
  assert.ok(!verdict.ok);
  return explain(verdict.problems[0] as Problem, locale);
}

/** Schema of `v`, a wrong value, and what the messages hold. */
const RULE_ROWS: readonly (readonly [JsonObject, JsonValue, string, string])[] = [
  [{ minimum: 3 }, 2, "must be at least 3, but you sent the number 2", "必须大于或等于 3"],
  [{ maximum: 3 }, 4, "must be at most 3", "必须小于或等于 3"],
  [{ exclusiveMinimum: 3 }, 3, "must be greater than 3", "必须大于 3"],
  [{ exclusiveMaximum: 3 }, 3, "must be less than 3", "必须小于 3"],
  [{ multipleOf: 5 }, 4, "must be a multiple of 5", "必须是 5 的倍数"],
  [
    { minLength: 2 },
    "a",
    'must have at least 2 characters, but you sent the string "a"',
    "至少要有 2 个字符",
  ],
  [{ maxLength: 2 }, "abc", "must have at most 2 characters", "最多只能有 2 个字符"],
  [{ pattern: "^\\d+$" }, "x", 'must match the regular expression "^\\\\d+$"', "必须匹配正则表达式"],
  [{ format: "date" }, "x", 'must have the format "date", such as 2024-05-31, but', "必须形如 2024-05-31，"],
  [{ format: "uuid" }, "x", 'must have the format "uuid", but', '必须符合格式 "uuid"'],
  [{ minItems: 2 }, [1], "must have at least 2 items, but you sent the array [1]", "至少要有 2 个元素"],
  [{ maxItems: 1 }, [1, 2], "must have at most 1 item, but", "最多只能有 1 个元素"],
  [{ uniqueItems: true }, [1, 1], "must not hold the same item twice", "不能含有重复的元素"],
  [
    { contains: { const: 1 } },
    [2],
    "must hold at least 1 item of the kind",
    "至少要有 1 个 schema 要求的元素",
  ],
  [
    { contains: { const: 1 }, minContains: 2 },
    [1],
    "must hold at least 2 items of the kind",
    "至少要有 2 个",
  ],
  [
    { contains: { const: 1 }, maxContains: 1 },
    [1, 1],
    "may hold at most 1 item of the kind",
    "最多只能有 1 个",
  ],
  [{ prefixItems: [{}], items: false }, [1, 2], "has more items than", "元素多于"],
  [{ prefixItems: [{}], unevaluatedItems: false }, [1, 2], "has more items than", "元素多于"],
  [{ minProperties: 1 }, {}, "must have at least 1 member, but you sent the object {}", "至少要有 1 个成员"],
  [{ maxProperties: 0 }, { a: 1 }, "must have at most 0 members", "最多只能有 0 个成员"],
  [
    { propertyNames: { maxLength: 1 } },
    { ab: 1 },
    'must not have a member named "ab"',
    '不能有名为 "ab" 的成员',
  ],
  [{ not: { type: "string" } }, "x", "has a form that the schema forbids", "禁止的形式"],
  [{ anyOf: [{ minimum: 3 }, false] }, 1, "must be at least 3", "必须大于或等于 3"],
  [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, "must match exactly one of the 2 forms", "必须恰好符合"],
  [nestedUnions(6), 3, "must match one of the 1 forms", "必须符合 schema 允许的 1 种形式之一"],
  [{ properties: { w: false } }, { w: 1 }, 'Parameter "v.w" is not allowed here', "在这里不允许出现"],
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }, 'Parameter "v.b" is missing', "缺少参数"],
  [{ enum: [1, "a"] }, "b", 'must be one of 1, "a", but you sent the string "b"', '必须是 1、"a" 之一'],
  [{ const: "a" }, "b", 'must be "a", but you sent the string "b"', '必须是 "a"，'],
  [{ type: "boolean" }, null, "must be a boolean (true or false), but you sent null", "必须是布尔值"],
];

describe("what the model is told about a keyword", () => {
  for (const [schema, value, english, chinese] of RULE_ROWS) {
    it(`names the parameter and the demand of ${Object.keys(schema).join()}`, () => {
      const document = { properties: { v: schema }, required: ["v"] };
      assert.ok(said(document, { v: value }).includes(english), said(document, { v: value }));
      assert.ok(said(document, { v: value }, "zh").includes(chinese), said(document, { v: value }, "zh"));
      assert.match(said(document, { v: value }), /^Parameter "v[^"]*" /);
      assert.match(said(document, { v: value }, "zh"), /参数 ?“v[^”]*”/);
    });
  }
});

describe("what the model is told", () => {
  it("is one sentence about a wrong type, as the contract writes it", () => {
    const document = { properties: { age: { type: "integer" } } };
    assert.equal(
      said(document, { age: "abc" }),
      'Parameter "age" must be an integer, but you sent the string "abc". Correct it and call again.',
    );
    assert.equal(
      said(document, { age: "abc" }, "zh"),
      '参数“age”必须是整数，但您发送的是字符串 "abc"。请更正后重新调用。',
    );
  });

  it("is the most serious problem first", () => {
    const document = {
      properties: {
        a: { enum: ["x"] },
        b: { type: "integer" },
        c: { type: "object", required: ["d"] },
        e: { minimum: 1 },
      },
    };
    const verdict = compileSchema(document).check({ a: "y", b: "z", c: {}, e: 0, f: 1 });
    assert.ok(!verdict.ok);
    assert.deepEqual(
      verdict.problems.map(({ kind }) => kind),
      ["missing", "type", "enum", "unexpected", "rule"],
    );
  });

  it("is all missing parameters at once", () => {
    const document = { properties: { path: {}, content: {} }, required: ["path", "content"] };
    assert.equal(said(document, {}), 'Parameters "path" and "content" are missing. Add them and call again.');
    assert.equal(said(document, {}, "zh"), "缺少参数 “path”和“content”。请补上后重新调用。");
  });

  it("is a wrong name together with the missing one", () => {
    const document = { properties: { cypher: {} }, required: ["cypher"] };
    assert.match(
      said(document, { query: 1 }),
      /"cypher" is missing, and you sent "query".*did you mean "cypher"\?/,
    );
    assert.match(said(document, { query: 1 }, "zh"), /缺少参数 “cypher”.*“query”.*“cypher”？/);
    const two = { properties: { a: {}, b: {} }, required: ["a", "b"] };
    assert.match(
      said(two, { x: 1, y: 2 }),
      /"a" and "b" are missing, and you sent "x" and "y", which are not known\./,
    );
  });

  it("is the nearest name for an unknown one, or the known names", () => {
    const document = { properties: { start_date: {}, limit: {} } };
    assert.match(said(document, { startDate: 1 }), /"startDate" is not known; did you mean "start_date"\?/);
    assert.match(said(document, { startDate: 1 }, "zh"), /您是否想用“start_date”？/);
    assert.match(said(document, { zzz: 1 }), /the known ones are "start_date" and "limit"\./);
    assert.match(said(document, { zzz: 1 }, "zh"), /已知参数有“start_date”和“limit”。/);
    assert.match(said({ properties: {} }, { zzz: 1 }), /none are allowed here\./);
    assert.match(said({ properties: {} }, { zzz: 1 }, "zh"), /这里不允许任何参数/);
  });

  it("says where in the arguments, and says it of the arguments as a whole", () => {
    const items = { type: "object", required: ["start"] };
    const document = { properties: { work: { type: "array", items } } };
    assert.match(said(document, { work: [{ start: 1 }, {}] }), /^Parameter "work\[1\]\.start" is missing\./);
    assert.match(said(document, ["x"]), /^The arguments must be an object, but you sent the array \["x"\]\./);
    assert.match(said(document, ["x"], "zh"), /^参数整体必须是对象，但您发送的是数组/);
  });
});

describe("a message to the model", () => {
  it("says the bounds that hold for all arguments", () => {
    const nested = Array.from({ length: 70 }).reduce<JsonValue>((inner) => [inner], 1);
    const rows: [JsonValue, RegExp, RegExp][] = [
      [{ v: nested }, /nested deeper than 64 levels/, /嵌套超过 64 层/],
      [{ v: "x".repeat(2_000_000) }, /longer than 1048576 characters/, /超过 1048576 个字符/],
      [
        { v: { w: Array.from({ length: 1_001 }, () => 1) } },
        /^Parameter "v\.w" may have 1000 items/,
        /最多只能有 1000 个元素/,
      ],
    ];
    for (const [value, english, chinese] of rows) {
      assert.match(said({ type: "object" }, value), english);
      assert.match(said({ type: "object" }, value, "zh"), chinese);
    }
  });

  it("is short and well-formed, whatever was sent", () => {
    const document = compileSchema({ properties: { v: { type: "boolean" } } });
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.string({ unit: "binary", minLength: 70 }),
        (value, text) => {
          for (const sent of [value, text, { [text]: text }, [text.repeat(100)], "\ud83d", "😀".repeat(80)]) {
            const verdict = document.check({ v: sent as JsonValue, [text]: 1 });
            for (const problem of verdict.ok ? [] : verdict.problems) isShort(problem);
          }
        },
      ),
    );
  });
});

it("keeps a short list of values whole, and leaves out the nearest of them first", () => {
  const document = { type: "object", properties: { v: { enum: ["markdown", "plain_text"] } } };
  assert.match(said(document, { v: "MARKDOWN" }), /"markdown", "plain_text".* The nearest is "markdown"\./);
  const chinese = said(document, { v: "MARKDOWN" }, "zh");
  for (const part of ['"markdown"、"plain_text"', '"MARKDOWN"']) assert.ok(chinese.includes(part), chinese);
});

/** The branch that was meant is not looked for in unions inside unions without end. */
function nestedUnions(depth: number): JsonObject {
  return depth === 0 ? { minimum: 5 } : { anyOf: [nestedUnions(depth - 1)] };
}

function isShort(problem: Problem): void {
  for (const locale of ["en", "zh"] as const) {
    const message = explain(problem, locale);
    assert.ok(message.isWellFormed() && message.length <= MAX_MESSAGE[locale], message);
  }
}
