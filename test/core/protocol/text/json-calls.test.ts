import assert from "node:assert/strict";
import { test } from "node:test";
import { TEXT_FORMATS } from "../../../../src/core/protocol/text/formats/all.ts";
import { TextAdapter } from "../../../../src/core/protocol/text/text-adapter.ts";
import { textProtocol } from "../../../../src/core/protocol/text/text-protocol.ts";
import { readSamples, TOOLS } from "./read-samples.ts";
import { readPieces } from "./reading.ts";

const PING = '<tool_call>{"name": "ping", "arguments": {}}';

readSamples([
  {
    title: "a closing tag that comes twice, or that the reply ends in, is markup",
    format: "hermes",
    text: `${PING}</tool_call>\n</tool_call>${PING}\n</tool_ca`,
    calls: [
      ["ping", "{}"],
      ["ping", "{}"],
    ],
  },
  {
    title: "a closing tag of another name ends the block, one further on is text",
    format: "hermes",
    text: `${PING}</function> So </b>.`,
    calls: [["ping", "{}"]],
    content: " So </b>.",
  },
  {
    title: "what only looks like a closing tag is text",
    format: "hermes",
    text: `${PING} </ b> or </a b> and <b>`,
    calls: [["ping", "{}"]],
    content: " </ b> or </a b> and <b>",
  },
  {
    title: "members beside the name are the arguments, where there are no others",
    format: "hermes",
    text: '<tool_call>{"id": "1", "name": "write", "path": "a", "n": 1.10}</tool_call>',
    calls: [["write", '{"path": "a", "n": 1.10}']],
  },
  {
    title: "so they are in an object that had to be repaired",
    format: "hermes",
    text: "<tool_call>{'name': 'write', 'path': 'a'}</tool_call>",
    calls: [["write", '{"path":"a"}']],
  },
  {
    title: "members beside arguments are none",
    format: "hermes",
    text: '<tool_call>{"name": "write", "why": "x", "arguments": {"path": "a"}}</tool_call>',
    calls: [["write", '{"path": "a"}']],
  },
  {
    title: "calls in an array of their own are read, with what else stands in the object",
    format: "bare_json",
    text: '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}, {"name": "write", "arguments": {"path": "a"}}], "index": 0}\nSo.',
    calls: [
      ["ping", "{}"],
      ["write", '{"path": "a"}'],
    ],
    content: "\nSo.",
  },
  {
    title: "an array without a call is text",
    format: "bare_json",
    text: '{"tool_calls": [{"name": "nobody", "arguments": {}}]}\n{"tool_calls": []}',
    content: '{"tool_calls": [{"name": "nobody", "arguments": {}}]}\n{"tool_calls": []}',
  },
  {
    title: "an array that is cut off has its calls",
    format: "hermes",
    text: '<tool_call>{"tool_calls": [{"name": "ping", "arguments": {}}, {"name": "write", "arguments": {"path": "a',
    calls: [
      ["ping", "{}"],
      ["write", '{"path": "a', "…"],
    ],
  },
  {
    title: "the call of a function behind its tag",
    format: "llama3_json",
    text: '<|python_tag|>write.call(path="a")<|eom_id|>',
    calls: [["write", '{"path": "a"}']],
  },
  {
    title: "a reply that ends behind a whole name has called it",
    format: "glm4",
    text: "Ok.<tool_call>ping\n",
    calls: [["ping", "{}"]],
    content: "Ok.",
  },
  {
    title: "a reply that ends behind the name of a tool that needs more was cut off",
    format: "glm4",
    text: "<tool_call>write",
    calls: [["write", "", "…"]],
  },
  {
    title: "code behind its tag that calls nothing known is text",
    format: "llama3_json",
    text: "<|python_tag|>print(1)",
    content: "<|python_tag|>print(1)",
  },
  {
    title: "a closing tag of another name ends the block of tags",
    format: "qwen3_coder",
    text: "<tool_call><function=ping></function></tools> So.",
    calls: [["ping", "{}"]],
    content: " So.",
  },
  {
    title: "what is left of a call that is closed in a wrong way is markup",
    format: "qwen3_coder",
    text: "<tool_call><function=write><parameter=path>\na\n</parameter></invoke></tool_call> So.",
    calls: [["write", '{"path": "a"', "…"]],
    content: " So.",
  },
]);

test("hermes: wrappers without end are text", () => {
  const format = TEXT_FORMATS.find(({ names }) => names.includes("hermes"));
  assert.ok(format);
  const text = `<tool_call>${'{"function":'.repeat(20_000)}`;
  const found = readPieces(format, [text], TOOLS);
  assert.deepEqual(found.calls, []);
});

/** What was put right in the arguments of each piece of the calls in a text. */
function repairsIn(setting: string, text: string) {
  const adapter = textProtocol(setting, "")?.(TOOLS);
  assert.ok(adapter instanceof TextAdapter);
  const { fragments } = adapter.push({ content: text }, true);
  return [...new Set(fragments.flatMap(({ repairs = [] }) => repairs))].sort();
}

const BODY = '{"path": "a", "body": "two\nlines"}';
const REPAIRED: readonly [protocol: string, text: string, repairs: string[]][] = [
  ["hermes", `<tool_call>{"name": "write", "arguments": ${BODY}}</tool_call>`, ["raw_control_character"]],
  ["hermes", `<tool_call>{"arguments": ${BODY}, "name": "write"}</tool_call>`, ["raw_control_character"]],
  ["hermes", "<tool_call>{'name': 'write', 'arguments': {'path': 'a'}}</tool_call>", ["single_quotes"]],
  [
    "hermes",
    '<tool_call>{"arguments": {"path": None,}, "name": "write"}</tool_call>',
    ["python_literal", "trailing_comma"],
  ],
  ["mistral", `[TOOL_CALLS]write${BODY}`, ["raw_control_character"]],
  ["qwen3_coder", `<tool_call><function=write>${BODY}</function></tool_call>`, ["raw_control_character"]],
  ["react", `Action: write\nAction Input: ${BODY}`, ["raw_control_character"]],
  [
    "harmony",
    `<|channel|>commentary to=functions.write<|message|>${BODY}<|call|>`,
    ["raw_control_character"],
  ],
  ["hermes", '<tool_call>{"name": "write", "arguments": {"path": "a\\n"}}</tool_call>', []],
  ["pythonic", "[write(path='a', body=None)]", []],
];

for (const [protocol, text, repairs] of REPAIRED) {
  test(`${protocol}: ${JSON.stringify(text)} says what was put right`, () => {
    assert.deepEqual(repairsIn(protocol, text), repairs);
  });
}
