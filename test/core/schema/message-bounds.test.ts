import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { explain, type Locale, MAX_MESSAGE } from "../../../src/core/schema/message.ts";
import type { Problem } from "../../../src/core/schema/problem.ts";
import { KEYWORDS } from "../../../src/core/schema/schema-node.ts";

const DRAFTS = {
  "draft-07": "http://json-schema.org/draft-07/schema#",
  "2019-09": "https://json-schema.org/draft/2019-09/schema",
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
} as const;
type Draft = keyof typeof DRAFTS;

const ALL = Object.keys(DRAFTS) as Draft[];
const NEW: Draft[] = ["2019-09", "2020-12"];
const LONG = "x".repeat(5_000);
const NAME = "n".repeat(64);
const MANY = Array.from({ length: 200 }, (_, at) => `value_number_${at}_${"v".repeat(40)}`);
const OPEN: JsonObject = { type: "object", properties: { [NAME]: {} }, additionalProperties: false };

/** By keyword: schemas that refuse a value for it, with long names, limits and values. */
const ROWS: readonly (readonly [string, JsonObject, JsonValue, Draft[]?])[] = [
  ["type", { type: "integer" }, LONG],
  ["type", { type: ["object", "integer", "boolean", "null"] }, LONG],
  ["type", { type: "string" }, { [LONG]: [LONG, { a: LONG }] }],
  ["enum", { enum: MANY }, LONG],
  ["enum", { enum: MANY }, `value_number_7_${"v".repeat(39)}`],
  ["enum", { enum: [LONG, 1, null, { a: LONG }] }, 2],
  ["const", { const: LONG }, "y"],
  ["required", { type: "object", required: MANY.map((name) => name.slice(0, 60)) }, {}],
  ["required", { ...OPEN, required: [NAME] }, { [LONG]: 1, [`${LONG}2`]: 1 }],
  ["additionalProperties", OPEN, { [LONG]: 1 }],
  ["additionalProperties", OPEN, { [`${NAME}n`]: 1 }],
  [
    "unevaluatedProperties",
    { type: "object", properties: { [NAME]: {} }, unevaluatedProperties: false },
    { [LONG]: 1 },
    NEW,
  ],
  ["multipleOf", { multipleOf: 123_456_789_012 }, 1],
  ["maximum", { maximum: -1e300 }, 10n ** 4_000n],
  ["exclusiveMaximum", { exclusiveMaximum: 1e-300 }, 1e300],
  ["minimum", { minimum: 1e300 }, -1.25e-300],
  ["exclusiveMinimum", { exclusiveMinimum: 1e300 }, 0],
  ["maxLength", { maxLength: 12 }, LONG],
  ["minLength", { minLength: 100_000 }, LONG],
  ["pattern", { pattern: `^${"[a-z]{2}".repeat(30)}$` }, LONG],
  ["format", { format: "date-time" }, LONG],
  ["maxItems", { maxItems: 1 }, [LONG, LONG]],
  ["minItems", { minItems: 12_345 }, [LONG]],
  ["uniqueItems", { uniqueItems: true }, [LONG, LONG]],
  ["contains", { contains: { const: LONG } }, [LONG.slice(1)]],
  ["minContains", { contains: { type: "string" }, minContains: 3 }, [LONG], NEW],
  ["maxContains", { contains: { type: "string" }, maxContains: 1 }, [LONG, LONG], NEW],
  ["items", { prefixItems: [{}], items: false }, [LONG, LONG], ["2020-12"]],
  ["items", { items: { type: "integer" } }, [LONG]],
  ["prefixItems", { prefixItems: [{ type: "integer" }] }, [LONG], ["2020-12"]],
  ["additionalItems", { items: [{}], additionalItems: false }, [LONG, LONG], ["draft-07", "2019-09"]],
  ["unevaluatedItems", { prefixItems: [{}], unevaluatedItems: false }, [LONG, LONG], ["2020-12"]],
  ["maxProperties", { type: "object", maxProperties: 1 }, { [LONG]: LONG, b: 1 }],
  ["minProperties", { type: "object", minProperties: 200 }, { [LONG]: LONG }],
  ["propertyNames", { type: "object", propertyNames: { maxLength: 3 } }, { [LONG]: LONG }],
  [
    "patternProperties",
    { type: "object", patternProperties: { "^x": { type: "integer" } } },
    { [LONG]: LONG },
  ],
  ["properties", { type: "object", properties: { [NAME]: { type: "integer" } } }, { [NAME]: LONG }],
  ["dependentRequired", { type: "object", dependentRequired: { a: [NAME] } }, { a: LONG }, NEW],
  ["dependentSchemas", { type: "object", dependentSchemas: { a: { required: [NAME] } } }, { a: LONG }, NEW],
  ["dependencies", { type: "object", dependencies: { a: [NAME] } }, { a: LONG }, ["draft-07"]],
  ["allOf", { allOf: [{ type: "integer" }] }, LONG],
  [
    "anyOf",
    { anyOf: [{ type: "integer" }, { type: "null" }, { type: "boolean" }, { type: "object" }] },
    LONG,
  ],
  ["anyOf", { anyOf: [{ const: MANY[0] ?? "" }, { const: MANY[1] ?? "" }] }, LONG],
  ["oneOf", { oneOf: [{ minLength: 1 }, { minLength: 2 }] }, LONG],
  ["not", { not: { type: "string" } }, LONG],
  ["if", conditional({ maxLength: 3 }), LONG],
  ["then", conditional({ required: [NAME] }), { [LONG]: LONG }],
  ["else", { if: { type: "number" }, else: { maxLength: 3 } }, LONG],
];

/** A schema that demands something of strings and objects; written so that no object here has a member `then`. */
function conditional(demand: JsonObject): JsonObject {
  return JSON.parse(`{"if":{"type":["string","object"]},"then":${JSON.stringify(demand)}}`) as JsonObject;
}

/** They hold subschemas for others to refer to and refuse nothing. */
const SILENT = new Set(["$defs", "definitions"]);

/** Where the value stands; the parameter's own name is the last of these. */
const PLACES: readonly (readonly [
  string,
  (schema: JsonObject) => JsonObject,
  (value: JsonValue) => JsonValue,
])[] = [
  [
    "at the top",
    (schema) => ({ type: "object", properties: { city: schema } }),
    (value) => ({ city: value }),
  ],
  [
    "deep inside, behind long names",
    (schema) =>
      [NAME, NAME, NAME, NAME, "root"].reduce<JsonObject>(
        (inner, name) => ({ type: "object", properties: { [name]: inner } }),
        { type: "object", properties: { city: schema } },
      ),
    (value) =>
      [NAME, NAME, NAME, NAME, "root"].reduce<JsonValue>((inner, name) => ({ [name]: inner }), {
        city: value,
      }),
  ],
];

/** ajv's own words, and how it writes places. */
const FOREIGN =
  /must NOT|should|instancePath|schemaPath|#\/|\/city|data\/|must pass|must match "then"|passingSchemas/;

function check(problem: Problem, locale: Locale): void {
  const message = explain(problem, locale);
  const isItself =
    problem.path.at(-1) === "city" && problem.kind !== "missing" && problem.kind !== "unexpected";
  if (isItself) assert.match(message, /city/, "it names the parameter");
  assert.ok(message.length <= MAX_MESSAGE[locale], `${message.length}: ${message}`);
  assert.ok(message.isWellFormed());
  assert.match(message, locale === "en" ? /\.$/ : /。$/, "it comes to its end");
  assert.match(message, locale === "en" ? /call again\.$/ : /重新调用。$/, message);
  assert.doesNotMatch(message, FOREIGN);
  if (locale === "zh") assert.match(message, /\p{Script=Han}/u);
  if (locale === "zh") assert.doesNotMatch(message, /\b(?:must|you|Parameter)\b/);
}

suite("whatever a schema demands and a model sends, the message is short, whole and in the language asked for", () => {
  for (const [keyword, schema, value, drafts = ALL] of ROWS) {
    for (const draft of drafts) {
      test(`${keyword} of ${draft}: ${JSON.stringify(schema).slice(0, 50)}`, () => {
        for (const [place, wrapSchema, wrapValue] of PLACES) {
          const compiled = compileSchema({ $schema: DRAFTS[draft], ...wrapSchema(schema) });
          const verdict = compiled.check(wrapValue(value));
          assert.ok(!verdict.ok, `${place}: refused`);
          for (const problem of verdict.problems) {
            check(problem, "en");
            check(problem, "zh");
          }
        }
      });
    }
  }

  test("every keyword that can be at fault has its row", () => {
    const covered = new Set(ROWS.map(([keyword]) => keyword));
    assert.deepEqual(
      [...KEYWORDS.keys()].filter((keyword) => !covered.has(keyword) && !SILENT.has(keyword)),
      [],
    );
  });
});

function said(schema: JsonObject, value: JsonValue, locale: Locale = "en"): string {
  const verdict = compileSchema({ type: "object", properties: { v: schema } }).check({ v: value });
  assert.ok(!verdict.ok);
  const [problem] = verdict.problems;
  return problem ? explain(problem, locale) : "";
}

test("what is most useful stays: of a path its end, of a long enum the nearest value", () => {
  const near = said({ enum: MANY.map((value) => value.slice(0, 30)) }, (MANY[7] ?? "").slice(0, 29));
  assert.match(near, /must be one of 200 values, the nearest is "value_number_7_v+"/);
  const listed = said({ enum: Array.from({ length: 500 }, (_, at) => `value-${at}`) }, "x");
  assert.match(
    listed,
    /must be one of "value-0", "value-1", .*… \(500 values\), but you sent the string "x"/,
  );
  const deep = {
    type: "object",
    properties: { [NAME]: { type: "object", properties: { end: { type: "integer" } } } },
  };
  assert.match(
    said(deep, { [NAME]: { end: LONG } }),
    /^Parameter "….*n\.end" must be an integer, but you sent the string "x/,
  );
});

test("what fits is told whole", () => {
  assert.equal(
    said({ enum: ["celsius", "fahrenheit"] }, "celcius"),
    'Parameter "v" must be one of "celsius", "fahrenheit", but you sent the string "celcius". The nearest is "celsius". Correct it and call again.',
  );
  assert.equal(
    said({ enum: ["celsius", "fahrenheit"] }, "warm", "zh"),
    '参数“v”必须是 "celsius"、"fahrenheit" 之一，但您发送的是字符串 "warm"。请更正后重新调用。',
  );
});
