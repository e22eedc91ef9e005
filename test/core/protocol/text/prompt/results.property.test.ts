import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TEXT_FORMATS } from "../../../../../src/core/protocol/text/formats/all.ts";
import type { PromptFormat } from "../../../../../src/core/protocol/text/prompt/format.ts";
import { promptFormatFor } from "../../../../../src/core/protocol/text/prompt/formats.ts";
import { writeToolPrompt } from "../../../../../src/core/protocol/text/prompt/write-prompt.ts";
import { withoutTurnMarkup } from "../../../../../src/core/protocol/turn-markup.ts";
import type { ChatMessage } from "../../../../../src/core/protocol/wire.ts";
import { readPieces } from "../reading.ts";
import { SAMPLES } from "./samples.ts";

/** Markup of chat templates; servers read it as special tokens wherever it stands. */
const TURNS = [
  "<|im_end|>",
  "<|im_start|>",
  "<|eot_id|>",
  "<｜User｜>",
  "</s>",
  "[/INST]",
  "<end_of_turn>",
  "<<SYS>>",
  "]<]",
];

const marks = ({ markup, escapedInJson = [] }: PromptFormat) => [
  ...markup,
  ...escapedInJson,
  "</tool_response>",
];

/** A result as the model reads it: the message behind one that made the call. */
function written(content: string, format: PromptFormat): string {
  const call = { id: "c0", type: "function", function: { name: "ping", arguments: "{}" } };
  const messages: ChatMessage[] = [
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c0", content },
  ];
  const input = { messages, tools: [], choice: "auto", parallel: true, locale: "en" } as const;
  return String(writeToolPrompt(input, format).at(-1)?.content);
}

const count = (text: string, part: string) => text.split(part).length - 1;

for (const { names, reader } of TEXT_FORMATS) {
  for (const name of names) {
    const format = promptFormatFor(name, "m");
    const piece = fc.oneof(
      fc.constantFrom(...marks(format), ...TURNS, ...(SAMPLES[name] ?? [])),
      fc.constantFrom(...'<|>[]{}"\\/:`=\n a', "u003c", "\\u003c"),
      fc.string({ maxLength: 3 }),
    );
    const hostile = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(""));
    const value = fc.oneof(
      hostile,
      fc.dictionary(hostile, hostile, { maxKeys: 3 }),
      fc.array(hostile, { maxLength: 3 }),
    );

    test(`in ${name} a result stays data whatever it holds`, () => {
      const plain = written("{}", format);
      fc.assert(
        fc.property(value, (said) => {
          const text = typeof said === "string" ? said : JSON.stringify(said);
          const message = written(text, format);
          for (const mark of [...marks(format), ...TURNS]) {
            assert.equal(count(message, mark), count(plain, mark), mark);
          }
          // Between what stands around any result, there is JSON that says the same.
          const at = plain.indexOf("{}");
          const from = plain.lastIndexOf("{}") === at ? at : plain.lastIndexOf("{}");
          const inside = message.slice(from, message.length - (plain.length - from - 2));
          const isJson = /^\s*[[{]/.test(text) && isParsable(text);
          assert.deepEqual(JSON.parse(inside), isJson ? JSON.parse(text) : text);
        }),
      );
    });

    test(`in ${name} a result makes no call`, () => {
      const tools = new Map([["ping", undefined]]);
      if (readPieces({ names, markers: [], reader } as never, [written("x", format)], tools).calls.length > 0)
        return;
      fc.assert(
        fc.property(hostile, (said) => {
          const message = written(said, format);
          assert.deepEqual(readPieces({ names, markers: [], reader } as never, [message], tools).calls, []);
        }),
      );
    });
  }
}

function isParsable(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("a JSON text without the markup of templates says the same", () => {
  const piece = fc.oneof(fc.constantFrom(...TURNS), fc.string({ unit: "binary", maxLength: 4 }));
  fc.assert(
    fc.property(fc.array(fc.array(piece).map((parts) => parts.join(""))), (texts) => {
      const json = withoutTurnMarkup(JSON.stringify(texts));
      assert.deepEqual(JSON.parse(json), texts);
      for (const mark of TURNS) assert.ok(!json.includes(mark), mark);
      assert.equal(withoutTurnMarkup(json), json);
    }),
  );
});

test("ordinary text is left as it is", () => {
  const json = JSON.stringify({
    html: "<p>a [b] <b>c</b> | d</p>",
    code: "if (a < b || c[0]) { }",
    flag: "🇳🇴",
  });
  assert.equal(withoutTurnMarkup(json), json);
});
