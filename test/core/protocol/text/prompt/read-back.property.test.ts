import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { JsonParser } from "../../../../../src/core/json/parser.ts";
import { stringifyJson } from "../../../../../src/core/json/stringify.ts";
import type { JsonObject } from "../../../../../src/core/json/value.ts";
import { TEXT_FORMATS } from "../../../../../src/core/protocol/text/formats/all.ts";
import { canPrompt, promptFormatFor } from "../../../../../src/core/protocol/text/prompt/formats.ts";
import { writeToolPrompt } from "../../../../../src/core/protocol/text/prompt/write-prompt.ts";
import { anyArguments, anyText, nestedArguments, type Sayable, TYPED, typedArguments } from "../any-call.ts";
import { SAMPLES } from "./samples.ts";

interface Call {
  name: string;
  args: JsonObject;
}

const NAMES = ["get_weather", "ping-2", "f"];
const name = fc.constantFrom(...NAMES);
/** Names that need no care in any format. */
const plainKey = fc.stringMatching(/^[a-z_][a-z0-9_]{0,7}$/);

/** What a format has no way to say; the writer's own rules for it are tested where they stand. */
const UNSAYABLE: Readonly<Record<string, string>> = {
  qwen3_coder: "</parameter>",
  seed_oss: "</parameter>",
  minimax_m2: "</parameter>",
  anthropic_xml: "</parameter>",
  minicpm5: "]]>",
  step3: "</steptml:parameter>",
  kimi_k3: "<|close|>argument",
  glm4: "</arg_value>",
  hy_v3: "</arg_value>",
  deepseek_dsml: "</｜DSML｜parameter>",
  gemma4: '<|"|>',
  functiongemma: "<escape>",
  minimax_m3: "]<]minimax[>[",
};
/** A value stands between line ends, so its own last character must not be half of one. */
const IN_LINES = ["qwen3_coder", "seed_oss"];
const BRACES = ["gemma4", "functiongemma"];

function argumentsFor(format: string, markup: readonly string[]): fc.Arbitrary<JsonObject> {
  const without = UNSAYABLE[format];
  const text = anyText(markup).filter(
    (value) =>
      !(without !== undefined && value.includes(without)) &&
      !(IN_LINES.includes(format) && value.endsWith("\r")),
  );
  const any: Sayable = { key: fc.oneof(plainKey, anyText(markup)), text };
  if (BRACES.includes(format)) return anyArguments({ key: fc.oneof(plainKey, text), text });
  if (format === "minimax_m3") return nestedArguments(any);
  return without === undefined ? anyArguments(any) : typedArguments(any);
}

/** The assistant message in which these calls are written. */
function written(calls: readonly Call[], format: string): string {
  const tool_calls = calls.map(({ name: called, args }, at) => ({
    id: `c${at}`,
    type: "function",
    function: { name: called, arguments: stringifyJson(args) },
  }));
  const messages = writeToolPrompt(
    {
      messages: [{ role: "assistant", content: null, tool_calls }],
      tools: [],
      choice: "auto",
      parallel: true,
      locale: "en",
    },
    promptFormatFor(format, "m"),
  );
  return String(messages.at(-1)?.content);
}

/** What the reader makes of a text that comes in two pieces. */
function read(
  text: string,
  cut: number,
  format: string,
): { calls: { name: string; text: string; whole: boolean }[]; content: string } {
  const found = TEXT_FORMATS.find(({ names }) => names.includes(format));
  assert.ok(found, `${format} has a reader`);
  const reader = found.reader({
    tools: new Map(NAMES.map((tool) => [tool, TYPED])),
    reasoningPrefilled: false,
  });
  const calls: { name: string; text: string; whole: boolean }[] = [];
  let content = "";
  const emit: Parameters<typeof reader.push>[1] = (event) => {
    if (event.kind === "content") content += event.text;
    else if (event.kind === "call") calls[event.call] = { name: event.name, text: "", whole: false };
    else if (event.kind === "arguments") (calls[event.call] as { text: string }).text += event.text;
    else if (event.kind === "call_end") (calls[event.call] as { whole: boolean }).whole = true;
  };
  reader.push(text.slice(0, cut), emit);
  reader.push(text.slice(cut), emit);
  reader.end(emit);
  return { calls, content };
}

/** The same value in the gateway's own spelling. */
function respelt(json: string): string {
  const parser = new JsonParser();
  parser.push(json);
  return parser.status === "complete" ? stringifyJson(parser.value ?? null) : `no JSON: ${json}`;
}

/** Formats whose calls look like ordinary text, so that nothing in ordinary text can be told from them. */
const WITHOUT_MARKUP = ["bare_json", "fenced_json", "tool_call_hook", "llama3_json", "xlam", "pythonic"];

for (const { names, markers } of TEXT_FORMATS) {
  for (const format of names) {
    const call = fc.record({ name, args: argumentsFor(format, markers) });
    const many = promptFormatFor(format, "m").oneCall ? 1 : 3;
    const calls = fc.array(call, { minLength: 1, maxLength: many });
    describe(format, () => {
      test("calls are read back as they were written", () => {
        fc.assert(
          fc.property(calls, fc.nat(), (made, at) => {
            const text = written(made, format);
            const seen = read(text, at % (text.length + 1), format);
            assert.deepEqual(
              seen.calls.map((one) => ({ name: one.name, args: respelt(one.text), whole: one.whole })),
              made.map((one) => ({ name: one.name, args: stringifyJson(one.args), whole: true })),
            );
            assert.equal(seen.content.trim(), "");
          }),
        );
      });

      test("calls in ordinary text are none once the text is made neutral", () => {
        if (WITHOUT_MARKUP.includes(format)) return;
        fc.assert(
          fc.property(calls, (made) => {
            const text = promptFormatFor(format, "m").text.neutral(written(made, format));
            assert.deepEqual(read(text, 0, format).calls, []);
          }),
        );
      });
    });
  }
}

test("every format that can be read can be asked for, and the other way round", () => {
  const readable = TEXT_FORMATS.flatMap(({ names }) => names);
  assert.deepEqual(
    readable.filter((format) => !canPrompt(format)),
    [],
  );
  assert.deepEqual(
    Object.keys(SAMPLES).filter((format) => !readable.includes(format)),
    [],
  );
});
