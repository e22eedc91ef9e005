import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolFailure, type ToolReply } from "../../../src/engine/ports/tools.ts";
import { runRounds } from "../../../src/engine/run.ts";
import { type CallPiece, callStream, textStream } from "../../support/chunks.ts";
import {
  fakeTransport,
  play,
  type Scene,
  type Sent,
  stage,
  toolNamed,
  toolReply,
} from "../../support/engine.ts";
import { answersIn } from "../../support/messages.ts";
import { fakeTarget } from "../../support/upstream.ts";

const call = (name: string, id: string): CallPiece => ({ id, name, args: `{"city":"${id}"}` });

/** Answers when its signal aborts, as the real transport does. */
const untilAborted = ({ signal }: Sent) =>
  new Promise<ToolReply>((_, reject) => {
    const cancel = () => reject(new ToolFailure("cancelled", "cancelled"));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel);
  });

const FREE = { level: "write", confirm: "never" };

async function oneRound(scene: Partial<Scene>, ...calls: CallPiece[]) {
  const target = fakeTarget([callStream(...calls), textStream("Done.")]);
  const played = await play({
    tools: [toolNamed("slow"), toolNamed("put", FREE)],
    ...scene,
    targets: [target],
  });
  return { ...played, answers: answersIn(target.asked(1)) };
}

test("when the time of the phase is over, reads are cut off and no further call is begun", async () => {
  const transport = fakeTransport(untilAborted);
  const calls = [call("slow", "a"), call("slow", "b"), call("put", "c")];
  const { answers, ending } = await oneRound({ transport, limits: { tools_phase_ms: 30 } }, ...calls);
  assert.deepEqual(
    transport.sent.map(({ attempt }) => attempt.callId),
    ["a"],
  );
  assert.match(`${answers[0]?.error}`, /^The tool timed out after \d{1,4} ms/);
  for (const { error } of answers.slice(1))
    assert.match(`${error}`, /time for tool calls in this round is over; this call was not run/);
  assert.deepEqual(
    ending.summary.tools.map(({ error_kind }) => error_kind),
    ["timeout", "tools_phase", "tools_phase"],
  );
});

test("a write that has begun when the time is over ends by itself", async () => {
  const transport = fakeTransport(async ({ signal }) => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return toolReply({ aborted: signal.aborted });
  });
  const { answers } = await oneRound(
    { transport, limits: { tools_phase_ms: 20 } },
    call("put", "a"),
    call("slow", "b"),
  );
  assert.deepEqual(answers[0]?.data, { aborted: false });
  assert.match(`${answers[1]?.error}`, /was not run/);
});

test("a wait that does not fit into what is left of the phase is not begun", async () => {
  const tools = [toolNamed("slow", { retry: 3 })];
  const transport = fakeTransport(async ({ attempt }) => {
    if (attempt.callId === "a") await new Promise((resolve) => setTimeout(resolve, 300));
    return toolReply({}, { status: attempt.callId === "a" ? 200 : 503, retryAfterMs: 4_900 });
  });
  const { answers } = await oneRound(
    { tools, transport, limits: { tools_phase_ms: 5_000 } },
    call("slow", "a"),
    call("slow", "b"),
  );
  assert.match(`${answers[1]?.error}`, /503/);
  assert.equal(transport.sent.length, 2);
});

test("the phase is never longer than what is left of the run", async () => {
  let now = 0;
  const { run } = stage({ targets: [], limits: { tools_phase_ms: 5_000, run_ms: 7_000 }, now: () => now });
  assert.equal(run.toolsPhaseMs(), 5_000);
  now = 4_000;
  assert.equal(run.toolsPhaseMs(), 3_000);
  now = 60_000;
  assert.equal(run.toolsPhaseMs(), 1);
});

/** A run whose client leaves while a tool is at work. */
async function leftDuring(name: string, ...after: CallPiece[]) {
  const target = fakeTarget([callStream(call(name, "a"), ...after), textStream("never asked for")]);
  const gone = new Error("gone");
  let finished = false;
  const transport = fakeTransport(async (sent) => {
    queueMicrotask(() => staged.sink.leave(gone));
    if (sent.tool === "slow") return await untilAborted(sent);
    await new Promise((resolve) => setTimeout(resolve, 20));
    finished = true;
    return toolReply({ aborted: sent.signal.aborted });
  });
  const staged = stage({ targets: [target], tools: [toolNamed("slow"), toolNamed("put", FREE)], transport });
  await assert.rejects(runRounds(staged.run), gone);
  const calls = staged.run.record.rounds[0]?.calls ?? [];
  return { target, transport, finished, outcomes: calls.map(({ outcome }) => outcome) };
}

test("when the client leaves, a read is aborted and nothing else is begun", async () => {
  const { target, transport, outcomes } = await leftDuring("slow", call("slow", "b"), call("put", "c"));
  assert.deepEqual(outcomes.slice(0, 1), ["cancelled"]);
  assert.equal(transport.sent.length, 1);
  assert.equal(target.requests.length, 1);
});

test("when the client leaves, a write that has begun ends and is recorded, and no round follows", async () => {
  const { target, transport, finished, outcomes } = await leftDuring("put", call("slow", "b"));
  assert.deepEqual(
    [finished, outcomes[0], transport.sent.length, target.requests.length],
    [true, "ok", 1, 1],
  );
});

test("a run that is aborted before it begins asks nobody", async () => {
  const target = fakeTarget([textStream("x")]);
  const { run, sink } = stage({ targets: [target] });
  sink.leave(new Error("gone"));
  await assert.rejects(runRounds(run), /gone/);
  assert.equal(target.requests.length, 0);
});

test("when the client leaves while the model speaks, the upstream is aborted", async () => {
  const target = fakeTarget([{ body: textStream("half").slice(0, 300), end: "hang" }]);
  const { run, sink } = stage({ targets: [target] });
  const running = runRounds(run);
  setImmediate(() => sink.leave(new Error("gone")));
  await assert.rejects(running, /gone/);
  assert.equal(target.aborted, 1);
});

test("a slow client holds the upstream until it has caught up, and loses nothing", async () => {
  const target = fakeTarget([{ body: [...textStream("0123456789")] }]);
  const { run, sink } = stage({ targets: [target] });
  sink.stall();
  const running = runRounds(run);
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  const held = sink.text.length;
  sink.drain();
  const { finish } = await running;
  run.answer.flush();
  assert.equal(finish, "stop");
  assert.ok(held < sink.text.length);
  assert.match(sink.text, /0123456789/);
});
