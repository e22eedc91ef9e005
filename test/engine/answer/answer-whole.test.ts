import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatChunk, Choice } from "../../../src/core/protocol/wire.ts";
import { WholeAnswer } from "../../../src/engine/answer/answer-whole.ts";
import { ReplyContent } from "../../../src/engine/reply/reply-content.ts";
import { ending, SUMMARY } from "../../support/answer.ts";
import { callChunk, chunk, completion, finish, said } from "../../support/chunks.ts";

function open() {
  const answer = new WholeAnswer("gpt");
  const reply = (...chunks: ChatChunk[]) => {
    answer.restart();
    const content = new ReplyContent({
      answer,
      owner: (name) => (name.startsWith("my_") ? "client" : "gateway"),
      keep: true,
      maxArgumentLength: 1_000,
      nextCallId: (id) => id ?? "made",
    });
    for (const one of chunks) content.take(content.read(one));
    return content.end();
  };
  const choice = (change = {}) => (answer.end(ending(change), true).choices as Choice[])[0];
  return { answer, reply, choice };
}

test("the text of all rounds is joined, the rest is the last round's, the envelope the first one's", () => {
  const { answer, reply } = open();
  reply(
    completion({ content: "One. ", reasoning_content: "a", annotations: [1] }, "tool_calls", {
      system_fingerprint: "x",
    }),
  );
  answer.settle();
  reply(
    completion({ content: "Two.", reasoning_content: "b", annotations: [2] }, "stop", {
      id: "second",
      created: 5,
      service_tier: "y",
    }),
  );
  const body = answer.end(ending({ usage: { total_tokens: 3 } }), false);
  assert.deepEqual(body, {
    ...completion({ content: "One. Two.", reasoning_content: "ab", annotations: [1, 2] }, "stop", {
      service_tier: "y",
      usage: { total_tokens: 3 },
    }),
    model: "gpt",
    toolweir: SUMMARY,
  });
});

test("a strict answer says nothing of the gateway, and one without usage has none", () => {
  const { answer, reply } = open();
  reply(completion({ content: "x" }));
  assert.deepEqual(answer.end(ending(), true), { ...completion({ content: "x" }), model: "gpt" });
});

test("an attempt that was given up leaves nothing behind, and settled rounds stay", () => {
  const { answer, reply, choice } = open();
  reply(completion({ content: "One. " }));
  answer.settle();
  reply(said("lost"), callChunk({ index: 0, id: "c", name: "my_a", args: "{}" }), finish("length"));
  reply(completion({ content: "Two." }));
  assert.deepEqual(choice()?.message, { role: "assistant", content: "One. Two." });
  assert.equal(choice()?.finish_reason, "stop");
});

test("a client's calls stand in the message, the gateway's do not", () => {
  const { reply, choice } = open();
  const call = (id: string, name: string, text?: string) => ({
    id,
    type: "function",
    function: { name, ...(text !== undefined && { arguments: text }) },
  });
  const custom = { id: "c", type: "custom", custom: { name: "my_sql", input: "select 1" } };
  reply(
    completion(
      {
        content: null,
        tool_calls: [
          call("g", "put", "{}"),
          { ...call("a", "my_a", '{"x":1}'), extra_content: 1 },
          call("b", "my_b"),
          custom,
        ],
      },
      "tool_calls",
    ),
  );
  assert.deepEqual(choice({ finish: "tool_calls" }), {
    index: 0,
    message: {
      role: "assistant",
      content: null,
      tool_calls: [{ extra_content: 1, ...call("a", "my_a", '{"x":1}') }, call("b", "my_b", "{}"), custom],
    },
    finish_reason: "tool_calls",
  });
});

test("a streamed reply to an unstreamed request becomes one message", () => {
  const { answer, reply } = open();
  reply(
    chunk({ role: "assistant", content: "" }),
    said("a"),
    said("b"),
    callChunk({ index: 0, id: "c", name: "my_a", args: '{"x"' }),
    callChunk({ index: 0, args: ":1}" }),
    finish("tool_calls"),
  );
  const body = answer.end(ending({ finish: "tool_calls" }), true);
  assert.deepEqual(body, {
    ...completion(
      {
        content: "ab",
        tool_calls: [{ id: "c", type: "function", function: { name: "my_a", arguments: '{"x":1}' } }],
      },
      "tool_calls",
    ),
    model: "gpt",
  });
});

test("every choice keeps its own finish reason, the first one gets the run's", () => {
  const { answer, reply } = open();
  const whole = completion({ content: "a" });
  const second = {
    index: 1,
    message: { role: "assistant", content: "b" },
    finish_reason: "length",
    logprobs: { content: [] },
  };
  reply({ ...whole, choices: [...whole.choices, second] });
  const { choices } = answer.end(ending({ finish: "content_filter" }), true);
  assert.deepEqual(
    (choices as Choice[]).map(({ finish_reason }) => finish_reason),
    ["content_filter", "length"],
  );
  assert.deepEqual((choices as Choice[])[1], second);
});

test("nothing is shown before the end, and a run without a word still has a message", () => {
  const { answer, choice } = open();
  assert.equal(answer.shown, false);
  assert.deepEqual(choice(), {
    index: 0,
    message: { role: "assistant", content: null },
    finish_reason: "stop",
  });
});

test("a member named __proto__ is data like any other", () => {
  const { answer, reply } = open();
  reply(
    JSON.parse(
      '{"id":"x","choices":[{"index":0,"message":{"content":"a","__proto__":{"polluted":1}},"finish_reason":"stop"}],"usage":{"__proto__":{"polluted":1}}}',
    ),
  );
  answer.end(ending(), true);
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});
