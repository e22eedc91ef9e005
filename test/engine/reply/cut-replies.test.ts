import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayError } from "../../../src/errors.ts";
import { callChunk, callStream, chunk, event, said, textStream } from "../../support/chunks.ts";
import { fakeTransport, play, type Scene, toolNamed, toolReply } from "../../support/engine.ts";
import { weather } from "../../support/perform.ts";
import { readStream } from "../../support/sink.ts";
import { fakeTarget, type ScriptedReply } from "../../support/upstream.ts";

const silent = () => new GatewayError("upstream_stream_timeout", "The upstream sent nothing for 5 ms.");
const reset = () => new GatewayError("upstream_stream_interrupted", "broke off", { transient: true });
const half = callChunk({ index: 0, id: "w1", name: "get_weather", args: '{"city":"Ro' });
const cut = (end: ScriptedReply["end"], ...before: unknown[]): ScriptedReply => ({
  body: [...before, half].map(event),
  ...(end && { end }),
});

async function playCut(replies: (ScriptedReply | string)[], scene: Partial<Scene> = {}, retry = 2) {
  const target = fakeTarget(replies, { retry });
  const fallback = fakeTarget([textStream("from the fallback")], { name: "backup" });
  const transport = fakeTransport(() => toolReply("rain"));
  const tools = [toolNamed("get_weather")];
  const playing = play({ targets: [target, fallback], tools, transport, ...scene });
  const outcome = await playing.then(
    (played) => ({ played, error: undefined }),
    (error: GatewayError) => ({ played: undefined, error }),
  );
  return {
    ...outcome,
    asked: target.requests.length,
    elsewhere: fallback.requests.length,
    ran: transport.sent.length,
  };
}

const ENDS: [string, ScriptedReply["end"], string][] = [
  ["falls silent", silent(), "upstream_stream_timeout"],
  ["is reset", reset(), "upstream_stream_interrupted"],
  ["ends", "close", "upstream_stream_interrupted"],
];

test("a stream that ends behind a whole call is an error at once: another call may be missing", async () => {
  const whole = callChunk({ index: 0, id: "w1", name: "get_weather", args: '{"city":"Rome"}' });
  const replies: ScriptedReply[] = [{ body: [event(whole)], end: "close" }];
  const { error, asked, ran } = await playCut([...replies, textStream("never")]);
  assert.deepEqual([asked, ran, error?.code], [1, 0, "upstream_stream_interrupted"]);
});

for (const [name, end, code] of ENDS) {
  test(`a stream that ${name} inside a call is asked for once more, whatever the setting retry`, async () => {
    const replies = [cut(end), callStream(weather("w1", "Rome")), textStream("Mild.")];
    const { played, asked, ran } = await playCut(replies, {}, 0);
    assert.deepEqual([asked, ran, readStream(played?.text ?? "").content], [3, 1, "Mild."]);
  });

  test(`a stream that ${name} inside a call twice is an error that says so, and nothing ran`, async () => {
    const { error, asked, elsewhere, ran } = await playCut([cut(end), cut(end), textStream("never")]);
    assert.deepEqual([asked, elsewhere, ran, error?.code], [2, 0, 0, code]);
    assert.match(String(error?.message), /inside a tool call.*nothing of it was run/);
  });

  test(`a stream that ${name} inside a call after text is the error at once`, async () => {
    const { error, asked, ran } = await playCut([cut(end, said("Hm. ")), textStream("never")]);
    assert.deepEqual([asked, ran, error?.code], [1, 0, code]);
  });
}

test("an unstreamed reply that falls silent is asked for once more, then it is the error", async () => {
  const quiet: ScriptedReply = { contentType: "application/json", body: '{"choices":[', end: silent() };
  const request = { stream: false };
  const first = await playCut([quiet, textStream("whole")], { request }, 0);
  assert.deepEqual([first.asked, first.error], [2, undefined]);
  const second = await playCut([quiet, quiet, textStream("never")], { request });
  assert.deepEqual([second.asked, second.elsewhere, second.error?.code], [2, 0, "upstream_stream_timeout"]);
});

test("in a later round a cut-off call is asked for once more too, and the tools of the rounds before do not run again", async () => {
  const replies = [callStream(weather("a", "Oslo")), cut(silent()), textStream("Cold.")];
  const { played, asked, ran } = await playCut(replies);
  assert.deepEqual([asked, ran, readStream(played?.text ?? "").content], [3, 1, "Cold."]);
  assert.equal(played?.run.record.rounds.length, 2);
});

test("silence without a call in a stream is the error at once", async () => {
  const quiet: ScriptedReply = { body: event(chunk({ role: "assistant" })), end: silent() };
  const { error, asked } = await playCut([quiet, textStream("never")]);
  assert.deepEqual([asked, error?.code], [1, "upstream_stream_timeout"]);
});

test("a failure of another kind in the new request is treated as ever", async () => {
  const { error, asked } = await playCut([cut(silent()), { status: 401, body: "{}" }, textStream("never")]);
  assert.deepEqual([asked, error?.status], [2, 401]);
});
