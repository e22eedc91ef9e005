import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nativeAdapter } from "../../../src/core/protocol/adapter.ts";
import {
  addUsage,
  clientChunk,
  errorText,
  finishReason,
  readChunk,
} from "../../../src/core/protocol/visible.ts";
import type { ChatChunk, Usage } from "../../../src/core/protocol/wire.ts";
import { chunk } from "../../support/chunks.ts";

const read = (value: ChatChunk) => readChunk(value, () => nativeAdapter);
const visible = (delta: object, choice: object = {}) => read(chunk({ ...delta }, choice)).choices[0]?.visible;

for (const [name, delta, choice] of [
  ["nothing", {}, {}],
  ["a role", { role: "assistant" }, {}],
  ["empty text", { content: "", reasoning_content: null }, {}],
  ["calls", { tool_calls: [{ index: 0 }], function_call: { name: "f" } }, {}],
  ["an empty list of parts", { content: [] }, {}],
  ["empty members", { annotations: [], audio: {} }, { logprobs: null, content_filter_results: {} }],
  ["ids of tokens", {}, { token_ids: [1], native_finish_reason: "x" }],
  ["scores beside the finish reason", {}, { logprobs: { content: [1] }, finish_reason: "stop" }],
] as [string, object, object][]) {
  test(`a choice of ${name} shows nothing`, () => assert.equal(visible(delta, choice), undefined));
}

for (const [name, delta, choice, shown] of [
  ["text without its role", { role: "assistant", content: "a" }, {}, { content: "a" }],
  ["white space", { content: " " }, {}, { content: " " }],
  ["text beside calls", { content: "a", tool_calls: [{ index: 0 }] }, {}, { content: "a" }],
  ["a false or a zero", { flag: false, count: 0 }, {}, { flag: false, count: 0 }],
  ["scores alone", {}, { logprobs: { content: [1] } }, {}],
  [
    "the text of parts",
    { content: [{ type: "text", text: "a" }, { type: "image" }, 7, { type: "text", text: null }] },
    {},
    { content: "a" },
  ],
] as [string, object, object, object][]) {
  test(`a choice of ${name} shows it, and no finish reason`, () => {
    assert.deepEqual(visible(delta, { finish_reason: null, ...choice }), {
      index: 0,
      finish_reason: null,
      ...choice,
      delta: shown,
    });
  });
}

test("a chunk of any JSON is read without a fault", () => {
  fc.assert(
    fc.property(
      fc.object({
        key: fc.constantFrom(
          "choices",
          "delta",
          "message",
          "content",
          "tool_calls",
          "function",
          "index",
          "error",
          "usage",
          "x",
        ),
        maxDepth: 5,
      }),
      (value) => {
        const { choices } = read(value as ChatChunk);
        for (const { index, fragments } of choices) {
          assert.ok(Number.isSafeInteger(index));
          assert.ok(fragments.every(({ text }) => typeof text === "string"));
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test("a truncating finish reason wins over any other, in any order", () => {
  const reasons = ["stop", "tool_calls", "function_call", "content_filter", "length", "max_tokens", "eos"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...reasons)), (seen) => {
      const has = (...some: string[]) => some.some((reason) => seen.includes(reason));
      const expected = has("length", "max_tokens")
        ? "length"
        : has("content_filter")
          ? "content_filter"
          : has("tool_calls", "function_call")
            ? "tool_calls"
            : "stop";
      assert.equal(finishReason(seen), expected);
    }),
  );
});

for (const [error, text] of [
  ["no", "no"],
  [{ message: "m", error: "e" }, "m"],
  [{ error: { detail: "d" } }, "d"],
  [{ message: null, detail: "d" }, "d"],
  [{ detail: [{ msg: "required" }] }, '[{"msg":"required"}]'],
  [{ code: 7 }, '{"code":7}'],
  [{ message: 7 }, "7"],
  [true, "true"],
  [null, "null"],
  ["x".repeat(600), "x".repeat(500)],
] as [unknown, string][]) {
  test(`the text of the error ${JSON.stringify(error).slice(0, 40)} is ${text.slice(0, 20)}`, () =>
    assert.equal(errorText(error), text));
}

test("usage is added member by member, whatever the order and the depth", () => {
  const numbers = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.nat(1_000));
  const usage = fc.record({ n: fc.nat(1_000), details: numbers });
  fc.assert(
    fc.property(fc.array(usage, { minLength: 1, maxLength: 6 }), (rounds) => {
      const sum = rounds.reduce<Usage | undefined>((before, one) => addUsage(before, one), undefined);
      const total = (pick: (one: (typeof rounds)[number]) => number | undefined) =>
        rounds.reduce((before, one) => before + (pick(one) ?? 0), 0);
      assert.equal(
        sum?.["n"],
        total(({ n }) => n),
      );
      for (const [member, value] of Object.entries(sum?.["details"] ?? {})) {
        assert.equal(
          value,
          total(({ details }) => details[member]),
        );
      }
    }),
  );
});

test("what is no number is not added, and nothing overwrites a number with nothing", () => {
  const sum = addUsage(
    { n: 1, cost: null, tier: "a", details: { x: 1 }, list: [1] },
    { n: null, cost: 2, tier: "b", details: null, list: [2], more: 3 },
  );
  assert.deepEqual(sum, { n: 1, cost: 2, tier: "b", details: { x: 1 }, list: [2], more: 3 });
});

test("a client's chunk keeps the order and the members of the upstream's, without its usage and error", () => {
  const wire = { choices: [], id: "up", x: 1, usage: { n: 1 }, model: "m", error: "e" };
  const out = clientChunk({ id: "mine", created: 7, model: "gpt" }, wire, []);
  assert.equal(
    JSON.stringify(out),
    '{"choices":[],"id":"mine","x":1,"model":"gpt","object":"chat.completion.chunk","created":7}',
  );
  assert.deepEqual(clientChunk({ id: "a", created: 1, model: "b" }, { usage: null }, []).usage, null);
});
