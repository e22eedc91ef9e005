import assert from "node:assert/strict";
import { test } from "node:test";
import { TEXT_FORMATS } from "../../../../src/core/protocol/text/formats/all.ts";
import { cutsOf, readPieces } from "./reading.ts";

const tools = new Map<string, Record<string, unknown> | undefined>([
  ["ping", { type: "object", properties: {} }],
  [
    "find",
    {
      type: "object",
      properties: { what: { type: "string" }, most: { type: "integer" } },
      required: ["what"],
    },
  ],
]);

/** What comes of a text: what is shown and thought, and the calls as `name text`, with `…` where one was cut off. */
interface Sample {
  text: string;
  content?: string;
  reasoning?: string;
  calls?: string[];
}

const FIND = 'find {"what": "a}\\"<b>", "most": 2}';
const ARGS = '{"what": "a}\\"<b>", "most": 2}';
const OBJECT = `{"name": "find", "arguments": ${ARGS}}`;
const PING = '{"name": "ping", "arguments": {}}';

const SAMPLES: Record<string, Sample[]> = {
  hermes: [
    { text: `Well.<tool_call>\n${OBJECT}\n</tool_call> Done.`, content: "Well. Done.", calls: [FIND] },
    {
      text: "<think>Hm <tool_call> soon</think>\n\nNo.",
      content: "\n\nNo.",
      reasoning: "Hm <tool_call> soon",
    },
    { text: `<think>So <tool_call>${PING}</tool_call>`, reasoning: "So ", calls: ["ping {}"] },
    {
      text: `Say:\n\`\`\`\n<tool_call>${PING}</tool_call>\n\`\`\``,
      content: `Say:\n\`\`\`\n<tool_call>${PING}</tool_call>\n\`\`\``,
    },
    { text: '<tool_call>{"name": "find", "arguments": {"what": "a', calls: ['find {"what": "a…'] },
    {
      text: "Use <tool_call> then <tool_call>it</tool_call>.",
      content: "Use <tool_call> then <tool_call>it</tool_call>.",
    },
  ],
  granite: [
    { text: `<|tool_call|> [${OBJECT}, ${PING}]\nDone.`, content: "\nDone.", calls: [FIND, "ping {}"] },
  ],
  minimax_m1: [{ text: `<tool_calls>\n${OBJECT}\n${PING}\n</tool_calls>`, calls: [FIND, "ping {}"] }],
  apertus: [
    { text: `<|tools_prefix|>[{"find": ${ARGS}}, {"ping": {}}]<|tools_suffix|>`, calls: [FIND, "ping {}"] },
  ],
  internlm: [{ text: `<|action_start|> <|plugin|>\n${OBJECT}<|action_end|>`, calls: [FIND] }],
  command_r: [
    {
      text: `<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>[{"tool_call_id": "0", "tool_name": "find", "parameters": ${ARGS}}]<|END_ACTION|>`,
      reasoning: "hm",
      calls: [FIND],
    },
    { text: "<|START_RESPONSE|>Hi.<|END_RESPONSE|>", content: "Hi." },
  ],
  phi4_functools: [
    { text: `functools[${OBJECT}]`, calls: [FIND] },
    { text: "import functools", content: "import functools" },
  ],
  bare_json: [
    { text: `Ok.\n${OBJECT}\n${PING}`, content: "Ok.\n", calls: [FIND, "ping {}"] },
    { text: '{"name": "find", "version": "1"}', content: '{"name": "find", "version": "1"}' },
    {
      text: `[\n{"name": "none", "arguments": {}},\n${PING}\n]`,
      content: `[\n{"name": "none", "arguments": {}},\n${PING}\n]`,
    },
    { text: `\`\`\`json\n${PING}\n\`\`\``, content: `\`\`\`json\n${PING}\n\`\`\`` },
  ],
  fenced_json: [
    { text: `Ok.\n\`\`\`json\n${OBJECT}\n\`\`\`\nDone.`, content: "Ok.\n\nDone.", calls: [FIND] },
    { text: `\`\`\`js\n${PING}\n\`\`\`\n`, content: `\`\`\`js\n${PING}\n\`\`\`\n` },
  ],
  tool_call_hook: [
    { text: `{"thought": "hm", "tool_name": "find", "arguments": ${ARGS}}`, reasoning: "hm", calls: [FIND] },
    { text: '{"thought": "It is 4.", "tool_name": null, "arguments": null}', content: "It is 4." },
  ],
  deepseek_v3: [
    {
      text: `Ok.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n\`\`\`json\n${ARGS}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
      content: "Ok.",
      calls: [FIND],
    },
  ],
  deepseek_v31: [
    {
      text: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>${ARGS}<｜tool▁call▁end｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
      calls: [FIND, "ping {}"],
    },
  ],
  kimi_k2: [
    {
      text: `<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>${ARGS}<|tool_call_end|><|tool_calls_section_end|>`,
      calls: [`functions.find:0 ${FIND}`],
    },
  ],
  kimi_k3: [
    {
      text: '<|open|>tools<|sep|><|open|>call tool="find" index="1"<|sep|><|open|>argument key="what" type="string"<|sep|>a <b><|close|>argument<|sep|><|open|>argument key="most" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
      calls: ['find {"what": "a <b>", "most": 2}'],
    },
  ],
  mistral: [
    { text: `Hi [TOOL_CALLS]find[ARGS]${ARGS}[TOOL_CALLS]ping{}`, content: "Hi ", calls: [FIND, "ping {}"] },
    {
      text: `[TOOL_CALLS] [{"name": "find", "arguments": ${ARGS}, "id": "abcdefghi"}]`,
      calls: [`abcdefghi ${FIND}`],
    },
    {
      text: "[THINK]hm[/THINK]Hi, [1] and [TOOL_CALLS] are text.",
      content: "Hi, [1] and [TOOL_CALLS] are text.",
      reasoning: "hm",
    },
  ],
  llama3_json: [{ text: `<|python_tag|>{"name": "find", "parameters": ${ARGS}}<|eom_id|>`, calls: [FIND] }],
  xlam: [
    { text: `[${OBJECT}]`, calls: [FIND] },
    { text: `<tool_call>[${PING}]</tool_call>`, calls: ["ping {}"] },
  ],
  functionary_v31: [
    {
      text: "Write <function=ping> and <function=find> or <function=none><parameter=a>.",
      content: "Write <function=ping> and <function=find> or <function=none><parameter=a>.",
    },
    { text: `<function=find>${ARGS}</function><|eom_id|>`, calls: [FIND] },
  ],
  functionary_v32: [
    { text: `all\nHi. >>>find\n${ARGS}`, content: "Hi. ", calls: [FIND] },
    { text: ">>> x = 1", content: ">>> x = 1" },
  ],
  functionary_v2: [{ text: `<|recipient|>find\n<|content|>${ARGS}<|stop|>`, calls: [FIND] }],
  inkling: [
    {
      text: `<|message_model|>find<|content_invoke_tool_json|>{"name": "find", "args": ${ARGS}}<|end_message|>`,
      calls: [FIND],
    },
  ],
  qwen_flower: [{ text: `✿FUNCTION✿: find\n✿ARGS✿: ${ARGS}\n✿RESULT✿`, calls: [FIND] }],
};

for (const [name, samples] of Object.entries(SAMPLES)) {
  const format = TEXT_FORMATS.find(({ names }) => names.includes(name));
  for (const [index, { text, content = "", reasoning = "", calls = [] }] of samples.entries()) {
    test(`${name}: own sample ${index + 1} in every cut`, () => {
      assert.ok(format);
      for (const pieces of cutsOf({ text })) {
        const found = readPieces(format, pieces, tools);
        const got = found.calls.map(
          ({ id, name: called, text: args, whole }) =>
            `${id === undefined ? "" : `${id} `}${called} ${args}${whole ? "" : "…"}`,
        );
        assert.deepEqual(
          { content: found.content, reasoning: found.reasoning, calls: got },
          { content, reasoning, calls },
        );
      }
    });
  }
}
