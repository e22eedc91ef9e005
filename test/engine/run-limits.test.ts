import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatMessage } from "../../src/core/protocol/wire.ts";
import type { StopReason } from "../../src/engine/answer/answer.ts";
import { callStream, textStream } from "../support/chunks.ts";
import { fakeTransport, toolReply } from "../support/engine.ts";
import { fakeKeptTurns } from "../support/kept-turns.ts";
import { answersIn } from "../support/messages.ts";
import { ASK, askCall, perform, weather } from "../support/perform.ts";
import { readStream } from "../support/sink.ts";

for (const [name, limits, stop, rounds] of [
  ["rounds", { rounds: 2 }, "max_rounds", 3],
  ["tool calls", { tool_calls: 3 }, "max_tool_calls", 4],
] as [string, { rounds?: number; tool_calls?: number }, StopReason, number][]) {
  test(`when the ${name} are used up, a last round without tools ends the run`, async () => {
    const calls = Array.from({ length: rounds - 1 }, (_, place) => callStream(weather(`c${place}`)));
    const {
      target,
      stop: seen,
      ending,
      text,
    } = await perform([...calls, textStream("That is all.")], { limits });
    assert.deepEqual([seen, ending.finish, ending.summary.rounds], [stop, "stop", rounds]);
    assert.equal(readStream(text).content, "That is all.");
    const last = target.asked(rounds - 1);
    assert.equal(last["tool_choice"], "none");
    assert.ok(Array.isArray(last["tools"]));
    const notes = answersIn(last).map(({ note }) => note);
    assert.match(`${notes.pop()}`, /No further tool calls are possible/);
    assert.deepEqual(
      notes,
      notes.map(() => undefined),
    );
    assert.equal(target.asked(rounds - 2)["tool_choice"], undefined);
  });
}

test("calls beyond the allowance are answered, not run", async () => {
  const { target, transport, stop } = await perform(
    [callStream(...["1", "2", "3"].map((id) => weather(id))), textStream("x")],
    { limits: { tool_calls: 2 } },
  );
  assert.equal(transport.sent.length, 2);
  assert.match(`${answersIn(target.asked(1))[2]?.error}`, /limit of tool calls/);
  assert.equal(stop, "max_tool_calls");
});

test("when the time is used up after a round, the next one is the last", async () => {
  let now = 0;
  const transport = fakeTransport(() => {
    now += 5_000;
    return toolReply("rain");
  });
  const { stop } = await perform([callStream(weather("1")), textStream("x")], {
    transport,
    now: () => now,
    limits: { run_ms: 4_000 },
  });
  assert.equal(stop, "timeout");
});

test("the same problem explained three times ends the run; a call that passes is forgiven", async () => {
  const wrong = (id: string) => callStream({ id, name: "get_weather", args: '{"town":1}' });
  const ended = await perform([wrong("1"), wrong("2"), wrong("3"), textStream("x")]);
  assert.deepEqual([ended.stop, ended.transport.sent.length], ["loop_guard", 0]);
  const mended = await perform([
    wrong("1"),
    wrong("2"),
    callStream(weather("3")),
    wrong("4"),
    wrong("5"),
    textStream("x"),
  ]);
  assert.deepEqual([mended.stop, mended.transport.sent.length], ["completed", 1]);
});

test("problems that differ end the run when there are twice as many", async () => {
  const wrong = (id: number) => callStream({ id: `${id}`, name: "get_weather", args: `{"town${id}":` });
  const varied = (id: number) =>
    id % 2 ? wrong(id) : callStream({ id: `${id}`, name: "get_weather", args: "[]" });
  const { stop, ending } = await perform([1, 2, 3, 4, 5, 6].map(varied).concat(textStream("x")), {
    limits: { tool_calls: 50 },
  });
  assert.deepEqual([stop, ending.summary.rounds], ["loop_guard", 7]);
});

test("a last round that calls all the same ends the run without running anything", async () => {
  const { stop, ending, transport, text } = await perform(
    [callStream(weather("1")), callStream(weather("2"))],
    { limits: { rounds: 1 } },
  );
  assert.deepEqual([stop, ending.finish, transport.sent.length], ["max_rounds", "stop", 1]);
  assert.deepEqual(readStream(text).calls, []);
});

test("a last round that calls the client's tool hands that call over, for the client has seen it", async () => {
  const keptTurns = fakeKeptTurns();
  const scene = { keptTurns, limits: { rounds: 1 }, request: { tools: [ASK] } };
  const last = callStream(weather("2"), askCall);
  const { stop, ending, text, transport } = await perform([callStream(weather("1")), last], scene);
  assert.deepEqual([stop, ending.finish, transport.sent.length], ["client_tools", "tool_calls", 1]);
  assert.equal(readStream(text).calls.length, 1);
  const [kept] = keptTurns.kept.map(
    ({ turn }) => turn.assistant as { before: object[]; message: ChatMessage },
  );
  assert.deepEqual([kept?.before.length, kept?.message.tool_calls?.map(({ id }) => id)], [2, ["u1"]]);
});

/** The outcomes of chains, for calls of `get_weather` with these arguments, one in each round, and a last text. */
async function chains(args: readonly string[], more: { corrections?: number } = {}) {
  const calls = args.map((text, at) => callStream({ id: `c${at}`, name: "get_weather", args: text }));
  const played = await perform([...calls, textStream("Done.")], { limits: more });
  const { notes } = played.scope;
  const ended = notes.filter(([name]) => name === "correctionEnded").map(([, outcome]) => outcome);
  return { ...played, ended };
}

test("how corrections end is counted: corrected, given up, abandoned", async () => {
  const good = '{"city":"Oslo"}';
  assert.deepEqual((await chains(['{"city":1}', "{", good])).ended, ["corrected"]);
  assert.deepEqual((await chains([good])).ended, []);
  assert.deepEqual((await chains(['{"town":"Oslo"}'])).ended, ["abandoned"]);
  const { ended, stop } = await chains(['{"city":1}', '{"city":2}'], { corrections: 2 });
  assert.deepEqual([ended, stop], [["gave_up"], "loop_guard"], "another value is no other problem");
});

test("a correction beside a call of the client's counts too", async () => {
  const first = callStream({ id: "c1", name: "get_weather", args: "{}" });
  const mixed = callStream(weather("c2"), askCall);
  const { scope, stop } = await perform([first, mixed], { request: { tools: [ASK] } });
  assert.equal(stop, "client_tools");
  assert.deepEqual(
    scope.notes.filter(([name]) => name === "correctionEnded"),
    [["correctionEnded", "corrected"]],
  );
});
