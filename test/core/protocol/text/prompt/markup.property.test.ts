import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { markupOf } from "../../../../../src/core/protocol/text/prompt/markup.ts";

const STRINGS = ["<tool_call>", "<|tool", '<|"|>', "functools[", "Action:", "```", ">>>", "]<]minimax[>["];
const markup = markupOf(STRINGS);

/** Text that is full of markup, whole and in parts. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...STRINGS, "\\", "u0041", "`", ">", " ", "\n"),
      fc.constantFrom(...STRINGS).map((string) => string.slice(1)),
      fc.string({ unit: "binary" }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

const holds = (text: string) => STRINGS.filter((string) => text.includes(string));

test("free text holds no markup afterwards, and only spaces have come in", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const neutral = markup.neutral(text);
      assert.deepEqual(holds(neutral), []);
      assert.equal(neutral.replaceAll(" ", ""), text.replaceAll(" ", ""));
      if (holds(text).length === 0) assert.equal(neutral, text);
    }),
  );
});

test("JSON holds no markup afterwards, and reads back as the same value", () => {
  const shown = STRINGS.map((string) => JSON.stringify(string).slice(1, -1));
  fc.assert(
    fc.property(fc.array(hostile), (texts) => {
      const json = markup.inJson(JSON.stringify(texts));
      assert.deepEqual(
        shown.filter((string) => json.includes(string)),
        [],
      );
      assert.deepEqual(JSON.parse(json), texts);
    }),
  );
});

test("an escape and what follows it are no markup together", () => {
  for (const text of ["\functools[", "\u000functools[", "\\functools["]) {
    const json = markup.inJson(JSON.stringify(text));
    assert.doesNotMatch(json, /functools\[/);
    assert.equal(JSON.parse(json), text);
  }
});

test("a format without markup changes nothing", () => {
  const none = markupOf([]);
  assert.equal(none.neutral("<x>"), "<x>");
  assert.equal(none.inJson('"<x>"'), '"<x>"');
});
