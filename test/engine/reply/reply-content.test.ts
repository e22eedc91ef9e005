import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delta } from "../../../src/core/protocol/wire.ts";
import { callChunk, chunk, completion, event, finish, said, stream } from "../../support/chunks.ts";
import { readOne } from "../../support/reading.ts";
import { chunksOf, readStream } from "../../support/sink.ts";

const role = chunk({ role: "assistant", content: "" });

for (const [name, finishes, calls, expected] of [
  ["stop", ["stop"], false, "stop"],
  ["an unknown reason", ["eos"], false, "stop"],
  ["calls announced, but none there", ["tool_calls"], false, "stop"],
  ["calls there, but not announced", ["stop"], true, "tool_calls"],
  ["calls announced, then stop", ["tool_calls", "stop"], true, "tool_calls"],
  ["a function call", ["function_call"], true, "tool_calls"],
  ["length over calls", ["length"], true, "length"],
  ["length over all that follows", ["length", "tool_calls", "stop"], true, "length"],
  ["length over all that was", ["tool_calls", "max_tokens"], true, "length"],
  ["a filter over calls", ["content_filter", "tool_calls"], true, "content_filter"],
  ["length over a filter", ["content_filter", "length"], false, "length"],
  ["the word null is none", ["null", "stop"], false, "stop"],
] as [string, string[], boolean, string][]) {
  test(`the reply ends as it must: ${name}`, async () => {
    const call = callChunk({ index: 0, id: "c1", name: "put", args: "{}" });
    const { reply, text } = await readOne(
      stream(role, ...(calls ? [call] : []), ...finishes.map((one) => finish(one))),
    );
    assert.equal(reply?.finish, expected);
    assert.deepEqual(readStream(text).finishes, []);
  });
}

test("what comes after a finish reason still belongs to the reply", async () => {
  const { reply, text } = await readOne(
    stream(
      role,
      callChunk({ index: 0, id: "c1", name: "put", args: '{"a":' }),
      finish("tool_calls"),
      callChunk({ index: 0, args: "1}" }),
      said("late"),
    ),
  );
  assert.deepEqual(
    reply?.calls.map(({ raw }) => raw),
    ['{"a":1}'],
  );
  assert.equal(readStream(text).content, "late");
});

test("what comes after [DONE] does not, and the connection is given back after a moment", async () => {
  const { reply, text, target } = await readOne({
    body: [stream(said("a"), finish("stop")), event(said(" ghost"))],
    end: "hang",
  });
  assert.equal(reply?.finish, "stop");
  assert.equal(readStream(text).content, "a");
  assert.equal(target.aborted, 0);
});

test("a reply of several choices is whole when each has its finish reason", async () => {
  const second = (delta: Delta, rest = {}) => chunk(delta, { index: 1, ...rest });
  const cut = await readOne(stream(said("a"), second({ content: "b" }), finish("stop")), {
    request: { n: 2 },
  });
  assert.match(`${cut.error?.message}`, /without a finish_reason/);
  const whole = await readOne(
    stream(said("a"), second({ content: "b" }), finish("stop"), second({}, { finish_reason: "length" })),
    { request: { n: 2 } },
  );
  assert.equal(whole.reply?.finish, "stop");
});

test("text beside a call, reasoning and refusal reach the client; nothing of the gateway's calls does", async () => {
  const { reply, text } = await readOne(
    stream(
      chunk({ role: "assistant", content: null, reasoning_content: "hm" }),
      chunk({
        content: "Look.",
        tool_calls: [{ index: 0, id: "secret1", function: { name: "put", arguments: '{"pin":' } }],
      }),
      chunk({ content: "", tool_calls: [{ index: 0, function: { arguments: "7}" } }] }),
      chunk({ refusal: "no" }),
      finish("tool_calls"),
    ),
  );
  const { content, reasoning, refusal, calls, roles } = readStream(text);
  assert.deepEqual(
    { content, reasoning, refusal, calls, roles },
    { content: "Look.", reasoning: "hm", refusal: "no", calls: [], roles: ["assistant"] },
  );
  assert.doesNotMatch(text, /secret1|tool_calls|pin/);
  assert.equal(reply?.calls[0]?.raw, '{"pin":7}');
});

test("a call of nothing at all is none", async () => {
  for (const client of [[], ["ask"]]) {
    const { reply, text } = await readOne(
      stream(said("a"), chunk({ tool_calls: [{ index: 0 }] }), finish("stop")),
      { client, tools: [] },
    );
    assert.deepEqual([reply?.finish, reply?.calls, readStream(text).calls], ["stop", [], []]);
  }
});

test("deltas that are null, missing or of another type say nothing", async () => {
  const odd = [{ delta: null }, {}, { delta: 7 }, { delta: [] }].map((choice) => ({
    ...chunk({}),
    choices: [{ index: 0, finish_reason: null, ...choice }],
  }));
  const none = [
    { ...chunk({}), choices: [] },
    { ...chunk({}), choices: null },
    { ...chunk({}), choices: [null, 1] },
  ];
  const { text } = await readOne(
    stream(role, ...odd, ...none, said("ok"), finish("stop", { content: null })),
  );
  assert.equal(readStream(text).content, "ok");
  assert.equal(chunksOf(text).length, 2);
});

test("a choice without an index has the index of its place", async () => {
  const { text } = await readOne(
    stream(
      { choices: [{ delta: { content: "a" } }] },
      { choices: [{ delta: { content: "b" } }] },
      { choices: [{ finish_reason: "stop" }] },
    ),
  );
  assert.deepEqual(readStream(text).content, "ab");
  assert.deepEqual(readStream(text).roles, ["assistant"]);
});

test("id and created come from the first chunk that is shown, or are the gateway's own, and never change", async () => {
  const preamble = { choices: [], created: 0, id: "", model: "", prompt_filter_results: [] };
  const other = { ...said("b"), id: "other", created: 5, model: "z" };
  for (const [chunks, id, created] of [
    [[preamble, role, said("a"), other], "chatcmpl-up", 1_750_000_000],
    [[{ choices: [{ index: 0, delta: { content: "a" } }] }, other], "chatcmpl-run1", 1_000],
  ] as const) {
    const { text } = await readOne(stream(...chunks, finish("stop")));
    const seen = chunksOf(text).map((one) => [one.id, one.created, one.model, one.object]);
    assert.deepEqual(new Set(seen.map(String)), new Set([`${id},${created},gpt,chat.completion.chunk`]));
  }
});

test("usage is the last one that came, also on a chunk without choices", async () => {
  const usage = (total_tokens: number) => ({ ...chunk({}), choices: [], usage: { total_tokens } });
  const { reply, text } = await readOne(stream(role, usage(1), said("a"), finish("stop"), usage(2)));
  assert.deepEqual(reply?.usage, { total_tokens: 2 });
  assert.doesNotMatch(text, /total_tokens/);
});

test("what is kept is text of both paths, reasoning under its own name, and parts that came as lists", async () => {
  const think = (reasoning: string) => chunk({ reasoning });
  const { reply } = await readOne(
    stream(
      chunk({ role: "assistant", content: 'A"' }),
      ...["b\\", "\n", "\ud83d", "\ude00"].map(said),
      chunk({ content: "E", reasoning_details: [{ id: 1 }] }),
      chunk({ reasoning_details: [{ id: 2 }], annotations: [1] }),
      ...["x", "y", "z"].map(think),
      chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "put" }, thought_signature: "s" }] }),
      finish("tool_calls"),
    ),
  );
  assert.deepEqual(reply?.toMessage(reply.calls), {
    role: "assistant",
    content: 'A"b\\\n😀E',
    reasoning: "xyz",
    reasoning_details: [{ id: 1 }, { id: 2 }],
    tool_calls: [
      { thought_signature: "s", id: "c1", type: "function", function: { name: "put", arguments: "{}" } },
    ],
  });
});

test("content that came in parts goes back in parts, and the client reads its text", async () => {
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
    { type: "text", text: "Hi" },
  ];
  const { reply, text } = await readOne(stream(chunk({ role: "assistant", content: parts }), finish("stop")));
  assert.deepEqual([readStream(text).content, readStream(text).reasoning], ["Hi", "hm"]);
  assert.deepEqual(reply?.toMessage([]).content, parts);
});

test("nothing is kept of a reply that no round can follow", async () => {
  const { reply } = await readOne(stream(said("a"), said("b"), said("c"), finish("stop")), { tools: [] });
  assert.equal(reply?.toMessage([]).content, null);
});

test("an unstreamed reply without a finish reason is taken as it is: its body was whole", async () => {
  const body = JSON.stringify(completion({ content: "Hi" }, null));
  const { reply } = await readOne({ contentType: "application/json", body }, { request: { stream: false } });
  assert.equal(reply?.finish, "stop");
});
