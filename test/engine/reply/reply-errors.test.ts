import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayError } from "../../../src/errors.ts";
import { chunk, completion, event, finish, said, stream } from "../../support/chunks.ts";
import { readOne } from "../../support/reading.ts";
import { readStream } from "../../support/sink.ts";
import type { ScriptedReply } from "../../support/upstream.ts";

const json = (value: unknown, rest: ScriptedReply = {}): ScriptedReply => ({
  contentType: "application/json",
  body: typeof value === "string" ? value : JSON.stringify(value),
  ...rest,
});

async function failure(reply: ScriptedReply | string): Promise<GatewayError> {
  const { error } = await readOne(reply);
  assert.ok(error instanceof GatewayError, `${error}`);
  return error;
}

const invalid = "upstream_invalid_response";

for (const [name, reply, code, message] of [
  [
    "an HTML page of status 200",
    { contentType: "text/html", body: "<html>" },
    invalid,
    "answered 200 with text/html",
  ],
  ["an empty JSON body", json(""), invalid, "not a JSON object"],
  ["an empty body without a type", { contentType: "", body: "" }, invalid, "not a JSON object"],
  ["a body that is cut off", json('{"choices":['), invalid, "not a JSON object"],
  ["a JSON array", json([]), invalid, "not a JSON object"],
  ["a completion without choices", json({ id: "x" }), invalid, "no choices"],
  ["a completion with an empty list of choices", json({ choices: [] }), invalid, "no choices"],
  [
    "an error of status 200",
    json({ error: { message: "quota" } }),
    "upstream_error",
    "reported an error: quota",
  ],
  [
    "an error of status 200 that is a string",
    json({ error: "quota" }),
    "upstream_error",
    "reported an error: quota",
  ],
  [
    "an HTML page without a type",
    { contentType: "", body: "\n <!doctype html>" },
    invalid,
    "not a JSON object",
  ],
  ["a redirect", { status: 302, contentType: "" }, invalid, "status 302, which is not followed"],
  ["a status below 200", { status: 101, contentType: "" }, invalid, "status 101"],
  ["an empty stream", "", "upstream_stream_interrupted", "without a finish_reason"],
  ["a stream of nothing but the end", stream(), "upstream_stream_interrupted", "without a finish_reason"],
  [
    "a stream without a finish reason",
    stream(said("a")),
    "upstream_stream_interrupted",
    "without a finish_reason",
  ],
  ["a stream that stops", event(said("a")), "upstream_stream_interrupted", "without a finish_reason"],
  ["an event that is no JSON", `data: {"a"\n\n${stream(finish("stop"))}`, invalid, "not a JSON object"],
  [
    "an event that is another JSON value",
    `data: 7\n\n${stream(finish("stop"))}`,
    invalid,
    "not a JSON object",
  ],
  [
    "an error event with JSON",
    'event: error\ndata: {"message":"no"}\n\n',
    "upstream_error",
    "reported an error: no",
  ],
  ["an error event with text", "event: error\ndata: no\n\n", "upstream_error", "reported an error: no"],
  ["an error field", 'error: {"message":"no"}\n\n', "upstream_error", "reported an error"],
  [
    "an error that ends the stream without a blank line",
    'data: {"error":"no"}',
    "upstream_error",
    "an error: no",
  ],
  [
    "an error as the finish reason",
    stream(said("a"), finish("error")),
    "upstream_error",
    "ended its reply with an error",
  ],
] as [string, ScriptedReply | string, string, string][]) {
  test(`${name} is an error, never a silent end`, async () => {
    const error = await failure(reply);
    assert.equal(error.code, code);
    assert.ok(error.message.includes(message), error.message);
  });
}

test("status, type, code, text and retry-after of an upstream's refusal are kept", async () => {
  const body = { error: { message: "slow down", type: "rate_limit_error", code: "rl", param: null } };
  const error = await failure(json(body, { status: 429, retryAfterMs: 1_200 }));
  assert.equal(error.status, 429);
  assert.deepEqual(error.toBody().error, {
    message: "slow down",
    type: "rate_limit_error",
    param: null,
    code: "rl",
  });
  assert.deepEqual(error.options.headers, { "retry-after": "2" });
});

for (const [name, body, message, code] of [
  ["with a code of null", { error: { message: "m", code: null } }, "m", null],
  ["with a number as the code", { error: { message: "m", code: 1234 } }, "m", "1234"],
  ["with a message alone", { message: "m" }, "m", "upstream_error"],
  ["with a detail alone", { detail: "m" }, "m", "upstream_error"],
  ["with an error inside of an error", { error: { error: { message: "m" } } }, "m", "upstream_error"],
  ["with an empty body", "", "The upstream answered with status 400.", "upstream_error"],
  ["with an HTML page", "<html>no</html>", "The upstream answered with status 400.", "upstream_error"],
] as [string, unknown, string, string | null][]) {
  test(`a refusal ${name} keeps its status`, async () => {
    const error = await failure(json(body, { status: 400, contentType: "text/event-stream" }));
    assert.deepEqual([error.status, error.message, error.toBody().error.code], [400, message, code]);
  });
}

test("the gateway's secrets never get into an error", async () => {
  const leak = { error: { message: "bad key sk-very-secret" } };
  for (const reply of [
    json(leak, { status: 401 }),
    json(leak),
    event(leak),
    "event: error\ndata: bad key sk-very-secret\n\n",
  ]) {
    const { message } = await failure(reply);
    assert.ok(message.includes("bad key [redacted]"), message);
  }
});

test("a long error text is shortened", async () => {
  const error = await failure(json({ error: "x".repeat(10_000) }, { status: 500 }));
  assert.equal(error.message.length, 500);
});

test("an error that nests as deep as it likes is an error of the upstream", async () => {
  const deep = `${'{"error":'.repeat(50_000)}1${"}".repeat(50_000)}`;
  for (const reply of [json(deep, { status: 500 }), json(deep), `data: ${deep}\n\n`]) {
    const error = await failure(reply);
    assert.ok(error.code.startsWith("upstream_"), error.code);
    assert.ok(!error.message.includes("call stack"), error.message);
  }
});

test("a failed connection is told as it was, after what the client has already got", async () => {
  const broken = new GatewayError("upstream_stream_interrupted", "broke off");
  const { error, text } = await readOne({ body: event(said("half")), end: broken });
  assert.equal(error, broken);
  assert.equal(readStream(text).content, "half");
});

test("a body of more than 16 MiB is refused, and the connection given up", async () => {
  const { error, target } = await readOne({
    ...json(""),
    body: Array(17).fill("x".repeat(1024 * 1024)),
    end: "hang",
  });
  assert.equal((error as GatewayError).code, "response_too_large");
  assert.equal(target.aborted, 1);
});

test("an event of more than 16 MiB is refused", async () => {
  const { error, target } = await readOne({ body: Array(17).fill("x".repeat(1024 * 1024)), end: "hang" });
  assert.equal((error as GatewayError).code, invalid);
  assert.equal(error?.message, "The upstream sent too much: an event of more than 16777216 bytes.");
  assert.equal(target.aborted, 1);
});

test("more than 128 calls in one reply are refused", async () => {
  const pieces = Array.from({ length: 129 }, (_, index) => ({
    index,
    id: `c${index}`,
    function: { name: "put" },
  }));
  const error = await failure(stream(chunk({ tool_calls: pieces }), finish("tool_calls")));
  assert.deepEqual(
    [error.code, error.message],
    [invalid, "The upstream sent too much: more than 128 tool calls in one reply."],
  );
});

for (const [name, reads, finishes] of [
  ["events", [stream(said("a"), finish("stop"))], true],
  ["events after blank lines", ["\n", "\n\n", stream(said("a"), finish("stop"))], true],
  ["events after a comment", [": hi\n\n", stream(said("a"), finish("stop"))], true],
  ["a completion", [JSON.stringify(completion({ content: "a" }))], true],
  ["a completion after white space", ["\n", "  \r\n", JSON.stringify(completion({ content: "a" }))], true],
  ["text of another kind", ["Bad gateway"], false],
] as [string, string[], boolean][]) {
  test(`a body without a media type is read for what it is: ${name}`, async () => {
    for (const body of [reads, [reads.join("")], [...reads.join("")]]) {
      const { reply, error, text } = await readOne({ contentType: "", body });
      assert.equal(reply?.finish, finishes ? "stop" : undefined);
      assert.equal(error === undefined, finishes);
      assert.equal(readStream(text).content, finishes ? "a" : "");
    }
  });
}

test("a completion in place of a stream is shown as one", async () => {
  const message = { content: "Hi", tool_calls: [{ id: "c1", function: { name: "put", arguments: "{}" } }] };
  const { reply, text } = await readOne(
    json(completion(message, "tool_calls", { usage: { total_tokens: 3 } })),
  );
  assert.equal(readStream(text).content, "Hi");
  assert.deepEqual(readStream(text).roles, ["assistant"]);
  assert.deepEqual(
    reply?.calls.map(({ id, name }) => [id, name]),
    [["c1", "put"]],
  );
  assert.deepEqual(reply?.usage, { total_tokens: 3 });
});
