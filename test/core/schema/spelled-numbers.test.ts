import assert from "node:assert/strict";
import { test } from "node:test";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { fallbackArguments } from "../../../src/core/tool-policy.ts";

function read(text: string): JsonObject {
  const parser = new JsonParser();
  parser.push(text);
  parser.end();
  return parser.value as JsonObject;
}

/** Numbers that a double does not hold. */
const NUMBERS = ["1e400", "-1e400", "0.1e-400", "-0", "3.14159265358979323846"];

for (const number of NUMBERS) {
  test(`${number} stays as it was written in an array that coercion makes of it`, () => {
    const list = { type: "array", items: { type: "number" } };
    const schema = compileSchema({
      type: "object",
      properties: { a: list, b: { type: "array", items: list } },
    });
    const verdict = schema.check(read(`{"a":${number},"b":[[1],${number}]}`));
    assert.ok(verdict.ok);
    assert.equal(stringifyJson(verdict.value), `{"a":[${number}],"b":[[1],[${number}]]}`);
  });

  test(`${number} stays as it was written under the name that a fallback gives it`, () => {
    const fallback = {
      tool: "other",
      arguments: { "new": "{old}", fixed: 1, __proto__: null } as Record<string, JsonValue>,
    };
    const mapped = fallbackArguments(fallback, read(`{"old":${number}}`));
    assert.equal(stringifyJson(mapped), `{"new":${number},"fixed":1}`);
  });
}
