import assert from "node:assert/strict";
import { test } from "node:test";
import { checkToolDefinition } from "../../../src/core/tool-definition.ts";
import { GatewayError } from "../../../src/errors.ts";

const MINIMAL = {
  name: "book_room",
  description: "Use it when the user wants a room.",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string" },
      start: { type: "string", format: "date" },
      count: { type: "integer", maximum: 10 },
      stops: { type: "array", items: { type: "object", properties: { km: { type: "number" } } } },
    },
    required: ["city"],
  },
  http: { method: "POST", url: "https://api.example.com/rooms" },
  level: "read",
};

function detailsOf(change: object) {
  try {
    checkToolDefinition(
      { ...MINIMAL, ...change },
      { allowUrl: (url) => (url.hostname === "10.0.0.1" ? "No." : undefined) },
    );
  } catch (error) {
    if (error instanceof GatewayError) return error.options.details ?? [];
    throw error;
  }
  return [];
}

const CHECK = { check: "args.count > 0", message: "Positive." };

test("a definition with every kind of rule is accepted and kept as it was written", () => {
  const change = {
    normalize: {
      city: ["trim", { strip_suffix: ["市"] }],
      count: ["chinese_number"],
      "stops[].km": [{ unit: { km: 1 } }],
    },
    defaults: { count: 1 },
    rules: [
      { ...CHECK, name: "positive", when: "has(args.count)", message: { en: "Positive.", zh: "须为正数。" } },
      {
        url: "https://rules.example.com/",
        headers: { authorization: `Bearer \${secret:RULES}` },
        timeout_ms: 100,
      },
    ],
    guard: { allow: "letters digits _-./", except: ["start"], paths: ["city"] },
  };
  const { definition, rules } = checkToolDefinition({ ...MINIMAL, ...change });
  assert.deepEqual({ ...definition, ...change }, definition);
  assert.equal(rules.isEmpty, false);
  assert.equal(checkToolDefinition(MINIMAL).rules.isEmpty, true);
});

for (const [change, path, reason] of [
  [{ normalize: { city: "trim" } }, "normalize.city", "invalid_type"],
  [{ normalize: { city: [] } }, "normalize.city", "invalid_value"],
  [{ normalize: { city: ["tirm"] } }, "normalize.city[0]", "invalid_normalizer"],
  [{ normalize: { ctiy: ["trim"] } }, "normalize.ctiy", "unknown_parameter"],
  [{ normalize: { "city..x": ["trim"] } }, "normalize.city..x", "invalid_value"],
  [{ normalize: { city: ["trim", "chinese_number"] } }, "normalize.city[1]", "invalid_normalizer"],
  [
    { normalize: { "stops[].km": ["date", "trim", { map: {} }] } },
    "normalize.stops[].km[2]",
    "invalid_normalizer",
  ],
  [{ defaults: [] }, "defaults", "invalid_type"],
  [{ defaults: { nope: 1 } }, "defaults.nope", "unknown_parameter"],
  [{ defaults: { count: "1" } }, "defaults.count", "invalid_default"],
  [{ defaults: { count: 11 } }, "defaults.count", "invalid_default"],
  [{ defaults: { stops: [{ km: 2 ** 60 }] } }, "defaults.stops", "invalid_default"],
  [{ normalize: { count: [{ map: { many: 2 ** 60 } }] } }, "normalize.count[0]", "invalid_normalizer"],
  [{ rules: {} }, "rules", "invalid_type"],
  [{ rules: [{}] }, "rules[0]", "invalid_rule"],
  [{ rules: [{ ...CHECK, url: "https://a.example/" }] }, "rules[0]", "invalid_rule"],
  [{ rules: [{ check: "args.count > 0" }] }, "rules[0].message", "invalid_rule"],
  [{ rules: [{ ...CHECK, timeout_ms: 5 }] }, "rules[0]", "invalid_rule"],
  [{ rules: [CHECK, { ...CHECK, check: "args.count >" }] }, "rules[1].check", "invalid_expression"],
  [{ rules: [{ ...CHECK, when: "args.cuont > 1" }] }, "rules[0].when", "invalid_expression"],
  [{ rules: [{ ...CHECK, meassge: "x" }] }, "rules[0].meassge", "unknown_member"],
  [{ rules: [{ ...CHECK, message: {} }] }, "rules[0].message", "invalid_value"],
  [{ rules: [{ ...CHECK, message: { de: "Nein." } }] }, "rules[0].message.de", "unknown_member"],
  [{ rules: [{ url: "ftp://a.example/" }] }, "rules[0].url", "url_not_allowed"],
  [{ rules: [{ url: "https://10.0.0.1/" }] }, "rules[0].url", "url_not_allowed"],
  [{ rules: [{ url: "https://a.example/{city}" }] }, "rules[0].url", "template_not_allowed"],
  [
    { rules: [{ url: "https://a.example/", headers: { host: "x" } }] },
    "rules[0].headers.host",
    "header_not_allowed",
  ],
  [{ rules: [{ url: "https://a.example/", timeout_ms: 60_000 }] }, "rules[0].timeout_ms", "invalid_value"],
  [{ guard: {} }, "guard", "invalid_value"],
  [{ guard: { allow: "leters" } }, "guard.allow", "invalid_guard"],
  [{ guard: { alow: "letters" } }, "guard.alow", "unknown_member"],
  [{ guard: { paths: ["fil"] } }, "guard.paths[0]", "unknown_parameter"],
  [{ guard: { allow: "letters", except: ["a b["] } }, "guard.except[0]", "invalid_value"],
] as const) {
  test(`refused: ${JSON.stringify(change).slice(0, 90)}`, () => {
    const details = detailsOf(change);
    assert.deepEqual(
      details
        .map((detail) => [detail.path, detail.reason])
        .filter(([at]) => at !== "guard" || path === "guard"),
      [[path, reason]],
    );
    assert.ok(
      details.every(
        ({ message }) =>
          message?.includes(path) || reason === "url_not_allowed" || reason === "header_not_allowed",
      ),
    );
  });
}

test("all faults of all rules are listed", () => {
  const change = {
    normalize: { nope: ["tirm"] },
    rules: [{ ...CHECK, check: "nope(1)" }, {}],
    guard: { allow: "x", paths: ["nope"] },
    retry: -1,
  };
  assert.deepEqual(
    detailsOf(change).map(({ path }) => path),
    [
      "retry",
      "normalize.nope",
      "normalize.nope[0]",
      "rules[0].check",
      "rules[1]",
      "guard.allow",
      "guard.paths[0]",
    ],
  );
});

test("an expression names the place of its fault", () => {
  const [fault] = detailsOf({ rules: [{ ...CHECK, check: "args.count > 0 && args.count <" }] });
  assert.match(`${fault?.message}`, /"rules\[0\]\.check" cannot be used, at character 31: Unexpected token/);
});

test("advice: a default that is never used, and a rule that reads what may not be there", () => {
  const lintOf = (change: object) =>
    checkToolDefinition({ ...MINIMAL, ...change })
      .lint.map(({ reason, path }) => `${reason} ${path}`)
      .filter((note) => /default|rule/.test(note));
  assert.deepEqual(lintOf({ defaults: { city: "Oslo" } }), ["default_unused defaults.city"]);
  assert.deepEqual(lintOf({ rules: [CHECK] }), ["rule_reads_optional rules"]);
  assert.deepEqual(lintOf({ rules: [{ ...CHECK, when: "has(args.count)" }] }), []);
  assert.deepEqual(lintOf({ rules: [CHECK], defaults: { count: 1 } }), []);
  assert.deepEqual(lintOf({ rules: [{ check: 'args.city != ""', message: "Which city?" }] }), []);
});
