import assert from "node:assert/strict";
import { test } from "node:test";
import { TextAdapter } from "../../../../src/core/protocol/text/text-adapter.ts";
import { textProtocol } from "../../../../src/core/protocol/text/text-protocol.ts";
import { readSamples, TOOLS } from "./read-samples.ts";

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
]);

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
