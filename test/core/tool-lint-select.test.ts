import assert from "node:assert/strict";
import { test } from "node:test";
import { checkToolDefinition } from "../../src/core/tool-definition.ts";

const OUTPUT = {
  type: "object",
  properties: {
    page: { type: "object", properties: { items: { type: "array", items: { type: "object" } } } },
    total: { type: "integer" },
  },
};

const notes = (select: string, output: object | undefined = OUTPUT) =>
  checkToolDefinition({
    name: "list_items",
    http: { method: "GET", url: "https://a.example/" },
    level: "read",
    result: { select },
    ...(output && { output }),
  }).lint.filter(({ reason }) => reason === "select_not_in_output");

for (const select of [
  "page.items[*].id",
  "total",
  "length(@)",
  "@",
  "{n: nothing}",
  "nothing || total",
  "page.*",
]) {
  test(`nothing is said of ${select}`, () => assert.deepEqual(notes(select), []));
}

for (const [select, message] of [
  [
    "items[*].id",
    '"result.select" asks for "items", but "output" has no such member: the model would see nothing.',
  ],
  [
    "page.rows[].id",
    '"result.select" asks for "rows", but "page" in "output" has no such member: the model would see nothing.',
  ],
  [
    "pages | [0]",
    '"result.select" asks for "pages", but "output" has no such member: the model would see nothing.',
  ],
] as const) {
  test(`what can never be there is noted: ${select}`, () => {
    assert.deepEqual(notes(select)[0]?.message, message);
    assert.deepEqual(notes("total"), []);
  });
}
