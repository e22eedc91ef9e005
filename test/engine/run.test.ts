import assert from "node:assert/strict";
import { test } from "node:test";
import {
  callChunk,
  callStream,
  chunk,
  completion,
  finish,
  said,
  stream,
  textStream,
} from "../support/chunks.ts";
import { fakeKeptTurns } from "../support/kept-turns.ts";
import { ASK, askCall, perform, weather } from "../support/perform.ts";
import { chunksOf, readStream } from "../support/sink.ts";

for (const reason of ["length", "content_filter"] as const) {
  test(`a reply that ended with ${reason} never runs a call`, async () => {
    const whole = callChunk({ index: 0, ...weather("1") });
    const part = callChunk({ index: 0, id: "1", name: "get_weather", args: '{"city":' });
    for (const call of [whole, part]) {
      const cut = stream(call, finish(reason));
      const { stop, ending, transport } = await perform([cut, cut]);
      assert.deepEqual([stop, ending.finish, transport.sent.length], [reason, reason, 0]);
    }
  });
}

test("the whole conversation goes back: the model's words, its reasoning, every result", async () => {
  const first = stream(
    chunk({ role: "assistant", content: "Let me see.", reasoning_content: "hm" }),
    callChunk({ index: 0, ...weather("1"), thought_signature: "s" }),
    finish("tool_calls"),
  );
  const { target } = await perform([first, callStream(weather("2")), textStream("x")]);
  const messages = target.asked(2)["messages"] as Record<string, unknown>[];
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["user", "assistant", "tool", "assistant", "tool"],
  );
  assert.deepEqual(messages[1], {
    role: "assistant",
    content: "Let me see.",
    reasoning_content: "hm",
    tool_calls: [
      {
        thought_signature: "s",
        id: "1",
        type: "function",
        function: { name: "get_weather", arguments: '{"city":"1"}' },
      },
    ],
  });
  assert.deepEqual(Object.keys(messages[2] ?? {}), ["role", "tool_call_id", "content"]);
});

test("ids that a provider gives anew each round, or the conversation has already, become unique", async () => {
  const used = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_0", type: "function", function: { name: "ask", arguments: "{}" } }],
  };
  const messages = [
    { role: "user", content: "hi" },
    used,
    { role: "tool", tool_call_id: "call_0", content: "x" },
  ];
  const { target } = await perform(
    [callStream(weather("call_0", "a")), callStream(weather("call_0", "b")), textStream("x")],
    { request: { messages } },
  );
  const sent = target.asked(2)["messages"] as {
    role: string;
    tool_calls?: { id: string }[];
    tool_call_id?: string;
  }[];
  const ids = sent.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    sent.flatMap(({ tool_call_id }) => tool_call_id ?? []),
    ids,
  );
});

test("usage is the sum of the rounds, with each round's own beside it", async () => {
  const used = (reply: string, usage: object) =>
    reply.replace("data: [DONE]", `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]`);
  const { ending } = await perform([
    used(callStream(weather("1")), {
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 1 },
      cost: 0.5,
    }),
    callStream(weather("2")),
    used(textStream("x"), {
      total_tokens: 4,
      prompt_tokens_details: { cached_tokens: 2, audio: null },
      tier: "a",
    }),
  ]);
  assert.deepEqual(ending.usage, {
    total_tokens: 7,
    prompt_tokens_details: { cached_tokens: 3, audio: null },
    cost: 0.5,
    tier: "a",
  });
  assert.deepEqual(
    ending.summary.usage_by_round.map((usage) => usage?.["total_tokens"] ?? null),
    [3, null, 4],
  );
});

test("a mixed turn runs the gateway's calls, keeps them, and hands the client its own, numbered from 0", async () => {
  const keptTurns = fakeKeptTurns();
  const { stop, ending, text, transport, target } = await perform([callStream(weather("s1"), askCall)], {
    keptTurns,
    request: { tools: [ASK] },
  });
  assert.deepEqual(
    [stop, ending.finish, transport.sent.length, target.requests.length],
    ["client_tools", "tool_calls", 1, 1],
  );
  assert.deepEqual(readStream(text).calls, [{ id: "u1", name: "ask", arguments: '{"q":"Which?"}' }]);
  assert.deepEqual(
    keptTurns.kept.map(({ turn }) => [turn.clientCallIds, Object.keys(turn.results)]),
    [[["u1"], ["s1"]]],
  );
});

test("a turn of the client's calls alone, in a run without rounds before it, keeps nothing", async () => {
  const keptTurns = fakeKeptTurns();
  const { ending } = await perform([callStream(askCall)], { keptTurns, request: { tools: [ASK] } });
  assert.deepEqual([ending.finish, keptTurns.kept], ["tool_calls", []]);
});

test("several choices are passed through, without the gateway's tools", async () => {
  const body = stream(
    said("a"),
    chunk({ content: "b" }, { index: 1 }),
    finish("stop"),
    chunk({}, { index: 1, finish_reason: "length" }),
  );
  const { target, text, run } = await perform([body], { request: { n: 2 } });
  assert.equal(target.requests[0]?.body, run.raw);
  assert.deepEqual(
    [0, 1].map((index) => [readStream(text, index).content, readStream(text, index).finishes]),
    [
      ["a", ["stop"]],
      ["b", ["length"]],
    ],
  );
});

test("progress says what happens to each call, in order", async () => {
  const { text } = await perform(
    [
      callStream(weather("1"), { id: "2", name: "nobody", args: "{}" }),
      callStream(weather("3", "1")),
      textStream("x"),
    ],
    { events: true },
  );
  const events = chunksOf(text).flatMap(({ toolweir }) =>
    toolweir?.["type"] ? [`${toolweir["type"]} ${toolweir["call_id"]}`] : [],
  );
  assert.deepEqual(events, [
    "tool.args 1",
    "tool.rejected 2",
    "tool.started 1",
    "tool.completed 1",
    "tool.args 3",
    "loop.guard 3",
  ]);
});

test("an unstreamed run gives one body: the last round's, with the text of all", async () => {
  const json = (value: object) => ({ contentType: "application/json", body: JSON.stringify(value) });
  const call = { id: "1", type: "function", function: { name: "get_weather", arguments: '{"city":"1"}' } };
  const replies = [
    json(
      completion({ content: "Let me see. ", tool_calls: [call] }, "tool_calls", {
        usage: { total_tokens: 1 },
      }),
    ),
    json(completion({ content: "Rain." }, "stop", { id: "second", usage: { total_tokens: 2 } })),
  ];
  const { body, ending } = await perform(replies, { request: { stream: false } });
  assert.deepEqual(body, {
    ...completion({ content: "Let me see. Rain." }),
    model: "gpt",
    usage: { total_tokens: 3 },
    toolweir: ending.summary,
  });
});
