import type { ToolCall } from "../core/protocol/accumulator.ts";
import type { ChatMessage, FinishReason } from "../core/protocol/wire.ts";
import type { Ending, StopReason } from "./answer/answer.ts";
import { WholeAnswer } from "./answer/answer-whole.ts";
import { keepable, type WaitingTurn, waitOrPark } from "./approvals/park.ts";
import { pendingOf } from "./approvals/told.ts";
import { executeCalls, toChatMessage } from "./calls/execute.ts";
import type { CallResult } from "./calls/planned-call.ts";
import { keepTurn } from "./kept-turns.ts";
import { askModel } from "./reply/ask.ts";
import { continueCut } from "./reply/continue-cut.ts";
import type { Reply } from "./reply/reply-content.ts";
import { fitHistory } from "./results/history.ts";
import { withNote } from "./results/results.ts";
import type { Run } from "./run-state.ts";

/**
 * Model, gates, tools, model, until the model stops asking for the gateway's tools.
 *
 * 1. What the client may see has reached its answer when a round ends.
 * 2. Every gateway call of a reply is answered before the model is asked again, and runs once.
 * 3. A reply that was cut off never runs a call; once in a run the model is asked to complete it.
 * 4. Calls of client tools end the run; what the gateway did in it is kept for its continuation.
 * 5. Calls that a person has to approve end the run too, unless the decision is waited for; what it did is kept, to go on from.
 * 6. When a limit is reached the model gets one last round without tools, whose text ends the run. A call of a client's tool that
 *    it makes all the same is handed over, since the client has seen it come.
 */
export async function runRounds(run: Run): Promise<Ending> {
  try {
    return await rounds(run);
  } finally {
    run.corrections.end();
  }
}

async function rounds(run: Run): Promise<Ending> {
  const given = run.messages.length;
  for (;;) {
    const reply = await wholeReply(run);
    if (reply.finish !== "tool_calls") return run.ending(reply.finish, stopReason(run, reply.finish));
    const clientCalls = reply.calls.filter((call) => run.offer.owner(call.name) === "client");
    if (run.lastRound && clientCalls.length === 0) return run.ending("stop", run.lastRound);
    for (const call of clientCalls) run.recordCall(call, "client");
    const turn = run.lastRound ? { ...reply, calls: clientCalls } : reply;
    const results = await execute(
      run,
      turn.calls.filter((call) => !clientCalls.includes(call)),
    );
    const before = run.messages.slice(given);
    if (clientCalls.length > 0) {
      await keep(run, turn, { clientCalls, results, before });
      return run.ending("tool_calls", "client_tools");
    }
    const decided = await decide(run, reply, { before, results });
    if ("ending" in decided) return decided.ending;
    await run.spend?.renew();
    goOn(run, reply, decided.results);
  }
}

/** What the gateway's calls of a turn came to. */
async function execute(run: Run, calls: readonly ToolCall[]): Promise<CallResult[]> {
  const results = calls.length > 0 ? await executeCalls(run, calls) : [];
  run.corrections.count(results.map(({ call, refused }) => ({ name: call.name, refused })));
  run.pending = results.flatMap(({ pending }) => (pending ? pendingOf(pending) : []));
  return results;
}

/** The results of a turn, or the end of the run if calls in it wait for a person. */
async function decide(
  run: Run,
  reply: Reply,
  { before, results }: Pick<WaitingTurn, "before" | "results">,
): Promise<{ results: readonly CallResult[] } | { ending: Ending }> {
  if (run.pending.length === 0) return { results };
  return waitOrPark(run, { before, assistant: assistantMessage(reply, results), results });
}

async function wholeReply(run: Run): Promise<Reply> {
  const reply = await askModel(run);
  return reply.finish === "length" ? continueCut(run, reply) : reply;
}

/** Prepares the next round: the conversation grows by the turn, and the limits are looked at. */
function goOn(run: Run, reply: Reply, results: readonly CallResult[]): void {
  run.lastRound = run.over();
  const turn = [assistantMessage(reply, results), ...toolMessages(run, results)];
  run.messages = [...run.messages, ...turn];
  fitHistory(run, turn);
  if (run.answer instanceof WholeAnswer) run.answer.settle();
}

function stopReason(run: Run, finish: FinishReason): StopReason {
  if (finish === "length" || finish === "content_filter") return finish;
  return run.lastRound ?? "completed";
}

/** The model's message, its calls with arguments that every upstream can read again. */
function assistantMessage(reply: Reply, results: readonly CallResult[]): ChatMessage {
  const rewritten = new Map(results.map(({ call }) => [call.id, call]));
  return reply.toMessage(reply.calls.map((call) => rewritten.get(call.id) ?? call));
}

const LAST_ROUND = {
  en: "No further tool calls are possible in this turn. Answer the user now with what you have.",
  zh: "本轮不能再调用工具。请根据已有信息直接回答用户。",
};

function toolMessages(run: Run, results: readonly CallResult[]): ChatMessage[] {
  const messages = results.map(({ message }) => toChatMessage(message));
  const last = messages.at(-1);
  if (run.lastRound && last) last.content = withNote(String(last.content), LAST_ROUND[run.locale]);
  return messages;
}

async function keep(
  run: Run,
  reply: Reply,
  turn: { clientCalls: readonly ToolCall[]; results: readonly CallResult[]; before: readonly ChatMessage[] },
): Promise<void> {
  if (turn.results.length + turn.before.length === 0) return;
  const kept = {
    ...turn,
    asked: run.request.messages.findLast(({ role }) => role !== "assistant"),
    assistant: assistantMessage(reply, turn.results),
    results: keepable(turn.results),
  };
  await keepTurn(run.deps.stores.keptTurns, run.owner, kept, run.deps.now());
}
