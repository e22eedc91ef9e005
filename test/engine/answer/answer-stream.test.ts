import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayError } from "../../../src/errors.ts";
import { ending, openAnswer, SUMMARY } from "../../support/answer.ts";
import { callChunk, chunk, finish, said } from "../../support/chunks.ts";
import { chunksOf, eventsOf, readStream } from "../../support/sink.ts";

test("one role, one envelope, one finish, and [DONE] over several rounds", () => {
  const { sink, answer, reply } = openAnswer();
  reply(
    chunk({ role: "assistant", content: "Let me see. " }),
    callChunk({ index: 0, id: "c", name: "put" }),
    finish("tool_calls"),
  );
  reply(
    { ...chunk({ role: "assistant", content: "" }), id: "second", created: 9 },
    { ...said("Done."), id: "second" },
    finish("stop"),
  );
  answer.end(ending());
  const { content, roles, finishes, calls } = readStream(sink.text);
  assert.deepEqual(
    { content, roles, finishes, calls },
    { content: "Let me see. Done.", roles: ["assistant"], finishes: ["stop"], calls: [] },
  );
  assert.equal(
    new Set(chunksOf(sink.text).map(({ id, created, model }) => `${id} ${created} ${model}`)).size,
    1,
  );
  assert.equal(eventsOf(sink.text).at(-1), "[DONE]");
  assert.match(sink.text, /^(data: [^\n]+\n\n)+$/);
});

test("the first chunk names the run, the finish chunk sums it up; a strict answer does neither", () => {
  for (const strict of [false, true]) {
    const { sink, answer, reply } = openAnswer({ strict });
    reply(said("a"), said("b"), finish("stop"));
    answer.end(ending());
    const members = chunksOf(sink.text).map(({ toolweir }) => toolweir);
    const expected = [{ run_id: "run1", session_id: "s1" }, undefined, SUMMARY];
    assert.deepEqual(members, strict ? [undefined, undefined, undefined] : expected);
  }
});

test("a reply of a finish reason alone has a role and a finish", () => {
  const { sink, answer, reply, shown } = openAnswer();
  reply(finish("stop"));
  answer.end(ending());
  const { roles, finishes, content } = readStream(sink.text);
  assert.deepEqual(
    [roles, finishes, content, shown(), answer.shown],
    [["assistant"], ["stop"], "", 0, false],
  );
});

test("what a provider puts on its finish chunk reaches the client once", () => {
  const logprobs = { content: [{ token: "b" }] };
  for (const [last, times] of [
    [finish("stop", { content: "b" }), 1],
    [finish("stop"), 1],
  ] as const) {
    const { sink, answer, reply } = openAnswer();
    const [choice] = last.choices as object[];
    reply(said("a"), { ...last, choices: [{ ...choice, logprobs, native_finish_reason: "eos" }] });
    answer.end(ending());
    assert.equal(sink.text.split('"logprobs"').length - 1, times, sink.text);
    assert.equal(chunksOf(sink.text).at(-1)?.choices[0]?.["native_finish_reason"], "eos");
  }
});

test("usage comes once, in a last chunk without choices, where it was asked for", () => {
  for (const [includeUsage, usage, chunks] of [
    [true, { total_tokens: 3 }, 1],
    [true, undefined, 0],
    [false, { total_tokens: 3 }, 0],
  ] as const) {
    const { sink, answer, reply } = openAnswer({ includeUsage });
    reply(said("a"), { ...finish("stop"), usage: { total_tokens: 1 } });
    answer.end(ending({ usage }));
    const last = chunksOf(sink.text).filter(({ choices }) => choices.length === 0);
    assert.deepEqual(
      last.map((one) => one.usage),
      Array(chunks).fill(usage),
    );
    assert.equal(sink.text.split("total_tokens").length - 1, chunks);
  }
});

test("each of several choices has its own role, calls and finish", () => {
  const { sink, answer, reply } = openAnswer({ choices: 2 });
  const call = { index: 3, id: "x", function: { name: "my_a", arguments: "{}" } };
  reply(
    said("a"),
    chunk({ content: "b" }, { index: 1 }),
    chunk({ tool_calls: [call] }, { index: 1 }),
    chunk({}, { index: 1, finish_reason: "tool_calls" }),
    finish("stop"),
  );
  answer.end(ending());
  assert.deepEqual(readStream(sink.text, 0), {
    ...readStream(""),
    content: "a",
    roles: ["assistant"],
    finishes: ["stop"],
  });
  const { calls, roles, finishes, content } = readStream(sink.text, 1);
  assert.deepEqual(
    [calls, roles, finishes, content],
    [[{ id: "x", name: "my_a", arguments: "{}" }], ["assistant"], ["tool_calls"], "b"],
  );
});

test("an error is one chunk with the error, then [DONE], and no finish", () => {
  const { sink, answer, reply } = openAnswer();
  reply(said("half"), finish("stop"));
  answer.fail(new GatewayError("upstream_error", "broke"));
  const last = chunksOf(sink.text).at(-1);
  assert.deepEqual(
    [last?.error?.code, last?.choices, last?.toolweir],
    ["upstream_error", [], { run_id: "run1", session_id: "s1" }],
  );
  assert.deepEqual(readStream(sink.text).finishes, []);
  assert.equal(eventsOf(sink.text).at(-1), "[DONE]");
});

test("progress is chunks with an empty delta, where it was asked for", () => {
  for (const events of [true, false]) {
    const { sink, answer } = openAnswer({ events });
    answer.progress({ type: "tool.started", call_id: "c1" });
    const chunks = chunksOf(sink.text);
    assert.deepEqual(
      chunks.map(({ toolweir, choices }) => [toolweir, choices]),
      events
        ? [
            [
              { run_id: "run1", session_id: "s1", type: "tool.started", call_id: "c1" },
              [{ index: 0, delta: { role: "assistant" }, finish_reason: null }],
            ],
          ]
        : [],
    );
    assert.equal(answer.shown, false);
  }
});

test("progress can say integers that JavaScript's numbers cannot hold", () => {
  const { sink, answer } = openAnswer({ events: true });
  answer.progress({ type: "tool.args", path: "id", value: 12345678901234567890n });
  answer.progress({ type: "tool.args", path: "ids", value: { all: [1, 12345678901234567890n] } });
  assert.match(sink.text, /"value":12345678901234567890[,}]/);
  assert.match(sink.text, /"all":\[1,12345678901234567890\]/);
});

test("a keepalive is written only when nothing else was for two calls, and never to a client that is full", () => {
  const { sink, answer, reply } = openAnswer();
  answer.keepalive("comment");
  reply(said("a"));
  answer.flush();
  answer.keepalive("comment");
  assert.doesNotMatch(sink.text, /keep-alive/);
  answer.keepalive("comment");
  assert.match(sink.text, /: keep-alive\n\n$/);
  sink.stall();
  answer.progress({ type: "x" });
  reply(said("b"));
  answer.flush();
  assert.equal(answer.blocked, true);
  const before = sink.text;
  answer.keepalive("comment");
  answer.keepalive("comment");
  assert.equal(sink.text, before);
});

test("no keepalive commits the status before a model server has answered; a new attempt is such a time again", () => {
  const { sink, answer } = openAnswer();
  const wait = () => {
    for (let look = 0; look < 5; look++) answer.keepalive("comment");
  };
  wait();
  answer.begin();
  answer.keepalive("comment");
  answer.restart();
  wait();
  assert.equal(sink.started, false);
  answer.begin();
  wait();
  assert.match(sink.text, /^(: keep-alive\n\n){2}$/);
  answer.restart();
  wait();
  assert.match(sink.text, /^(: keep-alive\n\n){5}$/);
});

test("a keepalive can be a chunk of its own", () => {
  const { sink, answer } = openAnswer();
  answer.begin();
  answer.keepalive("chunk");
  assert.equal(sink.text, "");
  answer.keepalive("chunk");
  assert.deepEqual(chunksOf(sink.text)[0]?.choices, [
    { index: 0, delta: { role: "assistant" }, finish_reason: null },
  ]);
});
