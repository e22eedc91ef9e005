import assert from "node:assert/strict";
import { test } from "node:test";
import { autoFormat } from "../../../../src/core/protocol/text/auto.ts";
import { readPieces } from "./reading.ts";

const tools = new Map([["ping", { type: "object", properties: { n: { type: "integer" } } }]]);
const call = [{ name: "ping", id: undefined, text: '{"n": 1}', whole: true }];

const families: [model: string, format: string][] = [
  ["openai/gpt-oss-120b", "harmony"],
  ["Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_coder"],
  ["Qwen/Qwen2.5-72B-Instruct", "hermes"],
  ["NousResearch/Hermes-3-Llama-3.1-8B", "hermes"],
  ["deepseek-ai/DeepSeek-V3.2", "deepseek_dsml"],
  ["deepseek-ai/DeepSeek-V3.1", "deepseek_v31"],
  ["deepseek-r1-0528", "deepseek_v3"],
  ["zai-org/GLM-4.6", "glm4"],
  ["moonshotai/Kimi-K2-Instruct", "kimi_k2"],
  ["mistralai/Devstral-Small-2507", "mistral"],
  ["meta-llama/Llama-3.3-70B-Instruct", "llama3_json"],
  ["meta-llama/Llama-4-Scout", "pythonic"],
  ["MiniMaxAI/MiniMax-M2", "minimax_m2"],
  ["google/gemma-4-27b", "gemma4"],
  ["microsoft/Phi-4-mini-instruct", "phi4_functools"],
  ["ibm-granite/granite-3.3-8b", "granite"],
  ["somebody/their-own", "auto"],
];

for (const [model, format] of families) {
  test(`auto takes ${model} for ${format}`, () => {
    assert.equal(autoFormat(model).names[0], format);
  });
}

test("auto reads the marks of other families too, and what follows a shared one decides", () => {
  for (const model of ["somebody/their-own", "Qwen/Qwen2.5-72B-Instruct", "zai-org/GLM-4.6"]) {
    for (const text of [
      '<tool_call>{"name": "ping", "arguments": {"n": 1}}</tool_call>',
      "<tool_call>\n<function=ping>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>",
      "<tool_call>ping\n<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
      '[TOOL_CALLS]ping[ARGS]{"n": 1}',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{"n": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ]) {
      const found = readPieces(autoFormat(model), [text], tools);
      const calls = found.calls.map((one) => ({ ...one, text: JSON.stringify(JSON.parse(one.text)) }));
      assert.deepEqual(calls, [{ ...call[0], text: '{"n":1}' }], `${model}: ${text}`);
      assert.equal(found.content.trim(), "");
    }
  }
});

test("auto takes no JSON for a call that nothing marks", () => {
  const text = '{"name": "ping", "arguments": {"n": 1}}';
  assert.deepEqual(readPieces(autoFormat("somebody/their-own"), [text], tools).content, text);
});
