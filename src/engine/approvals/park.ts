import type { JsonObject } from "../../core/json/value.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import { GatewayError } from "../../errors.ts";
import type { Ending } from "../answer/answer.ts";
import { CALL_TEXTS } from "../calls/call-texts.ts";
import { type CallResult, type PlannedCall, refuse } from "../calls/planned-call.ts";
import { callFacts } from "../calls/send-write.ts";
import type { NeededApproval } from "../gates/gate.ts";
import { conversation } from "../kept-turns.ts";
import type { LedgerEntry } from "../ports/ledger.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { ToolMessage } from "../results/results.ts";
import type { Run } from "../run-state.ts";
import { MAX_PENDING } from "./approvals.ts";
import { confirmationOf } from "./confirm.ts";
import { shownRequest } from "./described.ts";
import { keepLatest, keepParked } from "./parked.ts";
import { APPROVAL_TEXTS } from "./texts.ts";
import { contentOf, isSettled, markPending, pendingOf } from "./told.ts";

/** Puts a call aside that a person has to decide about. Its result says so, until there is another one. */
export function setAside(
  run: Run,
  planned: PlannedCall,
  { tool, args, approval }: { tool: RegisteredTool; args: JsonObject; approval: NeededApproval },
): void {
  const { call, record } = planned;
  const request = shownRequest(tool.definition, args);
  if (request instanceof Error) {
    // No person could say yes to a request that cannot be made.
    refuse(run, planned, { code: "arguments_invalid", problem: "request", feedback: request.message });
    return;
  }
  const entry = run.deps.approvals.proposal(callFacts(run, planned, tool, args), approval);
  record.outcome = "pending";
  record.write = { id: entry.id, state: entry.state };
  planned.result = { call, message: messageOf(entry, run.locale), refused: undefined, pending: entry };
}

function messageOf(entry: LedgerEntry, locale: "en" | "zh"): ToolMessage {
  const ok = entry.state === "succeeded";
  return {
    role: "tool",
    tool_call_id: entry.callId,
    content: contentOf(entry, locale),
    ok,
    ...(!ok && { errorKind: entry.error ?? entry.state }),
  };
}

/** Asks about the calls of a round that were put aside; what cannot be asked is told to the model. */
export async function askForApprovals(run: Run, planned: readonly PlannedCall[]): Promise<void> {
  for (const entry of planned) {
    const pending = entry.result?.pending;
    if (!pending) continue;
    const refusal = await request(run, pending);
    if (refusal) {
      delete entry.record.write;
      refuse(run, entry, refusal);
      continue;
    }
    const { id, arguments: args, expires_at } = pendingOf(pending);
    run.answer.progress({
      type: "approval.required",
      ...run.names(entry.call),
      approval_id: id,
      arguments: args,
      expires_at,
    });
    run.summarise(entry.call, {
      ok: false,
      cached: false,
      attempts: 0,
      duration_ms: 0,
      error_kind: "approval_required",
    });
  }
}

async function request(run: Run, pending: LedgerEntry) {
  try {
    if (await run.deps.approvals.request(pending)) return undefined;
    const feedback = APPROVAL_TEXTS[run.locale].tooMany(MAX_PENDING);
    return { code: "too_many_pending_approvals", problem: "pending_approvals", feedback };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "store_unavailable") throw error;
    return { code: "store_unavailable", problem: "store", feedback: CALL_TEXTS[run.locale].notStored };
  }
}

/** A turn of the model in which calls wait for a person. */
export interface WaitingTurn {
  before: readonly ChatMessage[];
  assistant: ChatMessage;
  results: readonly CallResult[];
}

/** The tool messages of a turn to be kept: those of calls that wait can be brought up to date. */
export function keepable(results: readonly CallResult[]): ChatMessage[] {
  return results.map(({ message: { role, tool_call_id, content }, pending }) => {
    const message = { role, tool_call_id, content };
    return pending ? markPending(message, pending.id) : message;
  });
}

const pendingIn = (results: readonly CallResult[]): LedgerEntry[] =>
  results.flatMap(({ pending }) => pending ?? []);

/**
 * What becomes of a turn in which calls wait for a person. Held: the results, if all were decided in time. Otherwise the run ends here, with a
 * text that says what waits; the turn is kept, to go on from it.
 */
export async function waitOrPark(
  run: Run,
  turn: WaitingTurn,
): Promise<{ results: CallResult[] } | { ending: Ending }> {
  await keep(run, turn);
  const results = run.approvalMode === "hold" ? await hold(run, turn) : undefined;
  if (results) {
    await run.deps.stores.documents.delete("parked_run", run.id);
    return { results };
  }
  if (run.approvalMode === "client") {
    for (const pending of run.pending) run.answer.takeCall(0, confirmationOf(pending));
    return { ending: run.ending("tool_calls", "approval_required") };
  }
  const waiting = pendingIn(turn.results).filter(({ id }) => run.pending.some((one) => one.id === id));
  const said = [...turn.before, turn.assistant].some(({ role, content }) => role === "assistant" && content);
  const text = APPROVAL_TEXTS[run.locale].ask(waiting.map((entry) => ({ ...entry, name: entry.tool })));
  run.answer.say(said ? `\n\n${text}` : text);
  return { ending: run.ending("stop", "approval_required") };
}

async function keep(run: Run, { before, assistant, results }: WaitingTurn): Promise<void> {
  const pending = pendingIn(results);
  const ttlMs = Math.max(...pending.map(({ expiresAt }) => expiresAt)) - run.deps.now();
  const parked = {
    caller: run.caller.name,
    sessionId: run.sessionId,
    isSessionNamed: run.isSessionNamed,
    conversation: conversation(
      run.owner,
      run.request.messages.findLast(({ role }) => role !== "assistant"),
    ),
    before,
    assistant,
    results: keepable(results),
    approvals: pending.map(({ id }) => id),
    request: run.raw.toString("utf8"),
    toolsHeader: run.toolsHeader,
  };
  const { documents } = run.deps.stores;
  await keepParked(documents, run.id, parked, ttlMs);
  if (run.isSessionNamed) await keepLatest(documents, parked, run.id, ttlMs);
}

/** The results of a turn when every call in it was decided and carried out; `undefined` if that takes too long. */
async function hold(run: Run, { results }: WaitingTurn): Promise<CallResult[] | undefined> {
  const { approvals, holdMs } = run.deps;
  const ids = pendingIn(results).map(({ id }) => id);
  run.answer.announce(run.pending);
  const decided = await approvals.until(
    ids,
    ({ state }) => state !== "awaiting_approval",
    holdMs,
    run.signal,
  );
  run.signal.throwIfAborted();
  const waiting = new Set(decided.flatMap(({ id, state }) => (state === "awaiting_approval" ? id : [])));
  run.pending = run.pending.filter(({ id }) => waiting.has(id));
  if (waiting.size > 0) return undefined;
  const ended = await approvals.until(ids, isSettled, run.toolsPhaseMs(), run.signal);
  run.signal.throwIfAborted();
  run.loops.forget();
  if (ended.some(({ decision }) => decision === "approved")) run.wrote = true;
  const byId = new Map(ended.map((entry) => [entry.id, entry]));
  return results.map((result) => settled(run, result, byId));
}

function settled(run: Run, result: CallResult, byId: ReadonlyMap<string, LedgerEntry>): CallResult {
  const entry = result.pending && byId.get(result.pending.id);
  if (!entry) return result;
  run.noteWrite(entry.callId, { id: entry.id, state: entry.state });
  return { ...result, message: messageOf(entry, run.locale), pending: undefined };
}
