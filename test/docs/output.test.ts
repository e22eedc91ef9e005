import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, blocksOf } from "./markdown.ts";
import { assertPrints } from "./output.ts";

const block = (language: string, text: string): Block => ({ language, role: "output", text, line: 1 });

test("printed text must be the shown text, with anything where the text has an ellipsis", () => {
  assertPrints("a 12 b\n", block("text", "a … b\n"));
  assert.throws(() => assertPrints("a 12 c\n", block("text", "a … b\n")));
  assert.throws(() => assertPrints("a.b", block("text", "a+b")), "other characters stand for themselves");
});

test("printed JSON must hold every shown member, and may hold more", () => {
  const shown = block("json", '{ "a": [{ "b": "…" }], "c": "x…" }');
  assertPrints('{"a":[{"b":1,"z":2}],"c":"xy","d":null}', shown);
  assert.throws(() => assertPrints('{"a":[{}],"c":"xy"}', shown), "a member is missing");
  assert.throws(() => assertPrints('{"a":[{"b":1},{"b":2}],"c":"xy"}', shown), "the list is longer");
  assert.throws(() => assertPrints('{"a":[{"b":1}],"c":"y"}', shown), "another text");
});

test("fenced blocks are found with language, role and line", () => {
  const markdown = "text\n```sh test\nls\n```\n\n```json\n{}\n```\n";
  assert.deepEqual(blocksOf(markdown), [
    { language: "sh", role: "test", text: "ls\n", line: 2 },
    { language: "json", role: "", text: "{}\n", line: 6 },
  ]);
});
