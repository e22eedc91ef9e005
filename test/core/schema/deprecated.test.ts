import assert from "node:assert/strict";
import { test } from "node:test";
import { deprecatedIn } from "../../../src/core/schema/deprecated.ts";
import { checkToolDefinition } from "../../../src/core/tool-definition.ts";

const OLD = { type: "string", deprecated: true };

test("a schema without a deprecated parameter has nothing to look for", () => {
  assert.equal(deprecatedIn(undefined), undefined);
  assert.equal(
    deprecatedIn({ type: "object", properties: { a: { type: "string", deprecated: false } } }),
    undefined,
  );
});

test("uses are found wherever a schema has a place for them", () => {
  const find = deprecatedIn({
    type: "object",
    $defs: { unit: OLD },
    properties: {
      a: OLD,
      b: { type: "object", properties: { c: OLD } },
      list: { type: "array", items: { type: "object", properties: { d: OLD, e: { type: "string" } } } },
      u: { $ref: "#/$defs/unit" },
      any: { anyOf: [{ type: "object", properties: { f: OLD } }, { type: "string" }] },
    },
  });
  assert.deepEqual(find?.({}), []);
  assert.deepEqual(
    find?.({ a: "1", b: { c: "2" }, list: [{ e: "" }, { d: "3" }], u: "4", any: { f: "5" } }),
    ["a", "b.c", "list[1].d", "u", "any.f"],
  );
  assert.deepEqual(find?.({ any: "text", list: "no list", b: null }), []);
});

test("every dialect takes the keyword", () => {
  for (const $schema of [
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
  ]) {
    const parameters = { $schema, type: "object", properties: { a: OLD } };
    const http = { method: "POST", url: "https://a.example/" };
    const { schema } = checkToolDefinition({ name: "t", parameters, http, level: "read" });
    assert.equal(schema.check({ a: "x" }).ok, true, $schema);
  }
});
