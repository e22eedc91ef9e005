import assert from "node:assert/strict";
import { test } from "node:test";
import { isPromptOnly, promptFormatFor } from "../../../../../src/core/protocol/text/prompt/formats.ts";
import { writeToolPrompt } from "../../../../../src/core/protocol/text/prompt/write-prompt.ts";
import type { ChatMessage } from "../../../../../src/core/protocol/wire.ts";
import { SAMPLES } from "./samples.ts";

const call = (id: string, name: string, args: string) => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

const CONVERSATION: ChatMessage[] = [
  { role: "system", content: "S" },
  {
    role: "assistant",
    content: null,
    reasoning_content: "Why.",
    tool_calls: [
      call("c1", "get_weather", '{"city": "Oslo", "days": [1, null], "now": true}'),
      call("c2", "ping", "{}"),
    ],
  },
  { role: "tool", tool_call_id: "c1", content: '{"t":5}' },
  { role: "tool", tool_call_id: "c2", content: "pong" },
];

for (const [name, expected] of Object.entries(SAMPLES)) {
  test(`${name}: two calls and their results`, () => {
    const format = promptFormatFor(name, "m");
    assert.deepEqual(format.names, [name]);
    const messages = writeToolPrompt(
      { messages: CONVERSATION, tools: [], choice: "auto", parallel: true, locale: "en" },
      format,
    );
    assert.deepEqual(
      messages.slice(1).map(({ content }) => content),
      expected,
    );
    assert.deepEqual(
      messages.slice(1).map(({ role }) => role),
      expected.map((_, at) => (at % 2 === 0 ? "assistant" : "user")),
    );
    assert.ok(messages.every((message) => !("tool_calls" in message) && !("tool_call_id" in message)));
    assert.equal(
      messages.some((message) => "reasoning_content" in message),
      format.thought === undefined,
      "a thought stands in the text or in its member",
    );
  });
}

test("with auto the model's name decides, and an unknown one gets the best-known format", () => {
  assert.deepEqual(promptFormatFor("auto", "org/Qwen3-Coder-30B").names, ["qwen3_coder"]);
  assert.deepEqual(promptFormatFor("auto", "my-model").names, ["hermes"]);
});

test("formats that no model has of its own accord are known as such", () => {
  assert.deepEqual(Object.keys(SAMPLES).filter(isPromptOnly), [
    "gemma_tool_code",
    "bare_json",
    "fenced_json",
    "tool_call_hook",
    "react",
  ]);
});
