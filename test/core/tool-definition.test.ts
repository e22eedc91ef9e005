import assert from "node:assert/strict";
import { test } from "node:test";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";
import { GatewayError } from "../../src/errors.ts";

const MINIMAL = {
  name: "get_weather",
  http: { method: "POST", url: "https://api.example.com/weather" },
  level: "read",
};

const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string", description: "City" } },
  required: ["city"],
};

function refusalOf(input: unknown): GatewayError {
  try {
    checkToolDefinition(input);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("the definition was accepted");
}

const pathsOf = (input: unknown) => (refusalOf(input).options.details ?? []).map(({ path }) => path);

test("a minimal definition is complete with its defaults", () => {
  assert.deepEqual(checkToolDefinition(MINIMAL).definition, {
    name: "get_weather",
    description: "",
    http: { method: "POST", url: "https://api.example.com/weather", query: {}, headers: {}, body: "json" },
    level: "read",
    confirm: "auto",
    timeout_ms: 10_000,
    retry: 2,
    backoff_ms: 200,
    parallel_safe: false,
    partial_ok: false,
    cache_ttl_s: 0,
    shared: false,
    thought: false,
    result: { max_bytes: 16_384, overflow: "truncate" },
    tags: [],
    keywords: [],
    examples: [],
  });
});

test("what is set is kept, and the input is not changed", () => {
  const input = Object.freeze({
    ...MINIMAL,
    description: "When the user asks for the weather",
    parameters: PARAMETERS,
    http: Object.freeze({
      method: "GET",
      url: "https://api.example.com/{city}",
      query: { unit: "c" },
      headers: { accept: "text/plain" },
      body: "none",
    }),
    level: "write",
    confirm: "never",
    timeout_ms: 300_000,
    retry: 0,
    backoff_ms: 0,
    parallel_safe: true,
    partial_ok: true,
    max_calls_per_run: 1,
    result: { max_bytes: 100 },
    tags: ["weather"],
    keywords: ["rain"],
    examples: [{ city: "Oslo" }, "Is it raining?"],
  });
  assert.deepEqual(checkToolDefinition(input).definition, {
    ...input,
    cache_ttl_s: 0,
    shared: false,
    thought: false,
    result: { max_bytes: 100, overflow: "truncate" },
  });
});

test("a definition that the registry answered with can be sent back", () => {
  const { definition, lint } = checkToolDefinition(MINIMAL);
  const again = checkToolDefinition({
    ...definition,
    version: 7,
    lint,
    updated_at: "2026-01-01T00:00:00.000Z",
  });
  assert.deepEqual(again.definition, definition);
});

test("all faults are listed with their paths", () => {
  const error = refusalOf({
    name: "a.b",
    description: "hidden\u202e",
    level: "root",
    parameters: PARAMETERS,
    http: { method: "POST", url: "https://{city}.example.com/", headers: { host: "x" } },
    timeout_ms: 0,
    tags: ["ok", 5],
    handler: "x",
  });
  assert.equal(error.code, "schema_rejected");
  assert.equal(error.status, 422);
  const details = error.options.details ?? [];
  assert.deepEqual(details.map(({ path }) => path).sort(), [
    "description",
    "handler",
    "http.headers.host",
    "http.url",
    "level",
    "name",
    "tags[1]",
    "timeout_ms",
  ]);
  assert.ok(details.every(({ reason, message }) => reason !== "" && message !== ""));
  assert.ok(error.message.includes(details[0]?.message ?? "?"));
  assert.ok(error.message.includes("7 more"));
});

test("name, level and http have no default", () => {
  assert.deepEqual(pathsOf({}).sort(), ["http", "level", "name"]);
  assert.deepEqual(pathsOf({ ...MINIMAL, http: {} }).sort(), ["http.method", "http.url"]);
  assert.equal(refusalOf({}).code, "invalid_tool_definition");
});

test("what is no object is refused", () => {
  for (const input of [null, undefined, 5, "tool", [], [MINIMAL]]) {
    assert.equal(refusalOf(input).code, "invalid_tool_definition");
  }
});

test("how often a tool may be called is bounded for all together unless it says otherwise", () => {
  const { definition } = checkToolDefinition({
    ...MINIMAL,
    rate: { per_minute: 3 },
    quota: { per_month: 9, per: "user" },
  });
  assert.deepEqual(definition.rate, { per_minute: 3, per: "tool" });
  assert.deepEqual(definition.quota, { per_month: 9, per: "user" });
  for (const members of [
    { rate: {} },
    { rate: { per_minute: 0 } },
    { quota: {} },
    { quota: { per_day: 1, per: "x" } },
  ]) {
    const [detail] = refusalOf({ ...MINIMAL, ...members }).options.details ?? [];
    assert.match(detail?.path ?? "", /^(rate|quota)/, JSON.stringify(members));
  }
});

test("what is shown of a result is an expression, compiled with the definition", () => {
  const { definition, select } = checkToolDefinition({ ...MINIMAL, result: { select: "items[*].id" } });
  assert.deepEqual(definition.result, { select: "items[*].id", max_bytes: 16_384, overflow: "truncate" });
  assert.deepEqual(select?.({ items: [{ id: 12345678901234567890n }] }), { found: [12345678901234567890n] });
  assert.equal(checkToolDefinition(MINIMAL).select, undefined);
  assert.deepEqual(refusalOf({ ...MINIMAL, result: { select: "items[*.id" } }).options.details, [
    {
      reason: "invalid_select",
      path: "result.select",
      message: '"result.select" cannot be used: it is not valid JMESPath, at position 7.',
    },
  ]);
  assert.deepEqual(pathsOf({ ...MINIMAL, result: { select: 5 } }), ["result.select"]);
});

test("names follow the grammar of the Chat Completions API and hide nothing of an object", () => {
  const long = "x".repeat(64);
  for (const name of ["a", "A-b_9", long])
    assert.equal(checkToolDefinition({ ...MINIMAL, name }).definition.name, name);
  const bad = [
    "",
    "a b",
    "calendar.respond",
    `${long}x`,
    "get%77",
    "\u0430dmin",
    "tool\0",
    "a\n",
    "__proto__",
    "constructor",
  ];
  for (const name of bad) {
    const error = refusalOf({ ...MINIMAL, name });
    assert.equal(error.code, "schema_rejected", name);
    assert.deepEqual(
      error.options.details?.map(({ path }) => path),
      ["name"],
    );
  }
});

test("numbers outside of their range and values of another type are refused", () => {
  const bad: Record<string, unknown[]> = {
    timeout_ms: [0, -1, 1.5, 300_001, 86_400_000, 1e308, "100", null],
    retry: [-1, 11],
    backoff_ms: [-1, 60_001],
    cache_ttl_s: [-1],
    max_calls_per_run: [0],
    parallel_safe: ["true", 1],
    level: ["READ", ["read"], null],
    parameters: [true, "object", [], null],
    tags: ["weather", [""]],
    result: [{ max_bytes: 0 }, { max_bytes: 2_000_000 }],
  };
  for (const [member, values] of Object.entries(bad)) {
    for (const value of values) {
      const paths = pathsOf({ ...MINIMAL, [member]: value });
      assert.ok(
        paths.length > 0 && paths.every((path) => path.startsWith(member)),
        `${member}: ${String(value)}`,
      );
    }
  }
});

test("a write tool cannot be cached", () => {
  assert.deepEqual(pathsOf({ ...MINIMAL, level: "write", cache_ttl_s: 60 }), ["cache_ttl_s"]);
});

test("faults of the schema are named below parameters, beside all others", () => {
  const error = refusalOf({
    ...MINIMAL,
    retry: -1,
    parameters: { type: "object", properties: { q: { type: "strange" } } },
  });
  assert.equal(error.code, "schema_rejected");
  const paths = (error.options.details ?? []).map(({ path }) => path);
  assert.ok(paths.includes("retry"));
  assert.ok(
    paths.some((path) => path.startsWith("parameters.properties.q")),
    paths.join(),
  );
});

test("a known compiled schema is used instead of a new one", () => {
  const known = checkToolDefinition({ ...MINIMAL, parameters: PARAMETERS }).schema;
  const asked: unknown[] = [];
  const compile = (schema: unknown) => {
    asked.push(schema);
    return known;
  };
  const checked = checkToolDefinition({ ...MINIMAL, parameters: PARAMETERS }, { compile });
  assert.equal(checked.schema, known);
  assert.deepEqual(asked, [PARAMETERS]);
});
