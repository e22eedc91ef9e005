import assert from "node:assert/strict";
import { test } from "node:test";
import { ending, openAnswer } from "../../support/answer.ts";
import { callChunk, chunk, finish } from "../../support/chunks.ts";
import { chunksOf, readStream } from "../../support/sink.ts";

test("a client's calls are numbered from 0 in the order in which they began, whatever came between", () => {
  const { sink, answer, reply } = openAnswer();
  const last = reply(
    callChunk(
      { index: 0, id: "g1", name: "put", args: "{}" },
      { index: 1, id: "a", name: "my_a" },
      { index: 2, id: "b", name: "my_b" },
    ),
    callChunk({ index: 2, args: '{"x":' }),
    callChunk({ index: 1, args: '{"y":' }),
    callChunk({ index: 2, args: "1}" }, { index: 1, args: "2}" }),
    callChunk({ index: 7, id: "c", name: "my_c" }),
    finish("tool_calls"),
  );
  answer.end(ending({ finish: "tool_calls" }));
  assert.deepEqual(readStream(sink.text).calls, [
    { id: "a", name: "my_a", arguments: '{"y":2}' },
    { id: "b", name: "my_b", arguments: '{"x":1}' },
    { id: "c", name: "my_c", arguments: "{}" },
  ]);
  assert.equal(last.calls.length, 4);
  assert.doesNotMatch(sink.text, /g1|"put"/);
});

test("a client's call begins to go out with its first arguments, and says id, type and name once", () => {
  const { sink, answer, reply } = openAnswer();
  reply(
    callChunk({ index: 0, id: "a", name: "my_" }),
    callChunk({ index: 0, name: "a", args: "" }),
    callChunk({ index: 0, args: '{"x"' }),
    callChunk({ index: 0, id: "a", name: "my_a", args: ":1}" }),
    finish("tool_calls"),
  );
  answer.end(ending({ finish: "tool_calls" }));
  const pieces = chunksOf(sink.text).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assert.deepEqual(pieces, [
    { index: 0, id: "a", type: "function", function: { name: "my_a", arguments: '{"x"' } },
    { index: 0, function: { arguments: ":1}" } },
  ]);
});

test("a client's call that was cut off before its arguments gets none", () => {
  const { sink, answer, reply } = openAnswer();
  reply(callChunk({ index: 0, id: "a", name: "my_a" }), finish("length"));
  answer.end(ending({ finish: "length" }));
  assert.deepEqual(readStream(sink.text).calls, [{ id: "a", name: "my_a", arguments: "" }]);
});

test("a client's custom call, and what the provider says beside a call, reach the client", () => {
  const { sink, reply, answer } = openAnswer();
  const custom = {
    index: 0,
    id: "a",
    type: "custom",
    custom: { name: "my_sql", input: "select" },
    extra_content: { s: 1 },
  };
  reply(
    chunk({ tool_calls: [custom] }),
    chunk({ tool_calls: [{ index: 0, custom: { input: " 1" } }] }),
    finish("tool_calls"),
  );
  answer.flush();
  const pieces = chunksOf(sink.text).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assert.deepEqual(pieces, [custom, { index: 0, custom: { input: " 1" } }]);
});
