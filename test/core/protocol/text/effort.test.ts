import assert from "node:assert/strict";
import { test } from "node:test";
import { TEXT_FORMATS } from "../../../../src/core/protocol/text/formats/all.ts";
import type { TextEvent } from "../../../../src/core/protocol/text/reader.ts";
import { TOOLS } from "./read-samples.ts";

const LENGTH = 100_000;
/** What a model that got stuck may write; each of these makes a reader look far ahead. */
const LOOPS: readonly [format: string, text: string][] = [
  ["qwen3_coder", "<function=write><parameter=path>"],
  ["qwen3_coder", "<tool_call><function=write><parameter=path></parameter> x "],
  ["qwen3_coder", "<tool_call><function=>x</function>"],
  ["qwen3_coder", '<function=write>{"a'],
  ["glm4", "<tool_call>write<arg_key>path</arg_key><arg_value>"],
  ["minimax_m3", ']<]minimax[>[<invoke name="write">]<]minimax[>[<path>'],
  ["pythonic", "[write("],
  ["pythonic", "[write(' "],
  ["gemma4", "call:ping{\n"],
  ["gemma_tool_code", "```tool_code\nping(\n"],
  ["harmony", "<|channel|>x "],
  ["react", "Action: ping\nAction Input: x\n"],
];

for (const [name, loop] of LOOPS) {
  test(`${name}: the effort grows no faster than a text of ${JSON.stringify(loop)} again and again`, () => {
    const format = TEXT_FORMATS.find(({ names }) => names.includes(name));
    assert.ok(format);
    const text = loop.repeat(LENGTH / loop.length);
    for (const size of [text.length, 7]) {
      const reader = format.reader({ tools: TOOLS, reasoningPrefilled: false });
      const start = process.cpuUsage();
      for (let at = 0; at < text.length; at += size) reader.push(text.slice(at, at + size), () => {});
      reader.end(() => {});
      const { user, system } = process.cpuUsage(start);
      assert.ok(user + system < 4_000_000, `${(user + system) / 1000} ms`);
    }
  });
}

const WHOLE = 16_000_000;

for (const [name, loop] of [
  ["hermes", "<tool_call>"],
  ["deepseek_v3", "<｜tool▁calls▁begin｜>"],
  ["bare_json", "{\n"],
  ["hermes", "```\n"],
] as const) {
  test(`${name}: a whole reply of ${JSON.stringify(loop)} holds nobody up`, () => {
    const format = TEXT_FORMATS.find(({ names }) => names.includes(name));
    assert.ok(format);
    const text = loop.repeat(WHOLE / loop.length);
    const reader = format.reader({ tools: TOOLS, reasoningPrefilled: false });
    let length = 0;
    const count = (event: TextEvent) => {
      if (event.kind === "content") length += event.text.length;
    };
    const start = process.cpuUsage();
    reader.push(text, count);
    reader.end(count);
    const { user, system } = process.cpuUsage(start);
    assert.equal(length, text.length);
    assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms`);
  });
}
