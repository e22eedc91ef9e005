import { JsonParser } from "../core/json/parser.ts";
import { canonicalHash, stringifyJson } from "../core/json/stringify.ts";
import type { JsonObject } from "../core/json/value.ts";
import type { ToolCall } from "../core/protocol/accumulator.ts";
import type { ChatMessage } from "../core/protocol/wire.ts";
import { runAttempts, type ToolErrorKind, type ToolOutcomeResult } from "./attempt.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import { gateContext } from "./gate-context.ts";
import { type Passage, passGates, type Verdict } from "./gates/gate.ts";
import { ToolFailure, type ToolOutcome } from "./ports.ts";
import { dryRunMessage, refusalMessage, type ToolMessage, toToolMessage } from "./results.ts";
import type { CallRecord } from "./run-record.ts";
import type { Run } from "./run-state.ts";
import type { RegisteredTool } from "./tool-snapshot.ts";

/** Calls that run beside each other at most. */
const CONCURRENCY = 8;

/** What one call of a round came to. */
export interface CallResult {
  /** The call as it goes back upstream: its arguments are always the text of an object. */
  call: ToolCall;
  message: ToolMessage;
  /** What the model was told, if the call was refused. */
  refused: string | undefined;
}

interface PlannedCall {
  call: ToolCall;
  record: CallRecord;
  tool: RegisteredTool | undefined;
  args: JsonObject | undefined;
  /** Name and canonical arguments: equal keys are the same call. */
  key: string;
  result: CallResult | undefined;
}

/**
 * Judges and runs the gateway's calls of one round.
 *
 * 1. Every call gets exactly one message, in the model's order, whatever became of it.
 * 2. Calls run one after the other in the model's order; neighbours that are all `parallel_safe` run at the same time.
 * 3. The same call twice in a round runs once.
 * 4. After the client has left, or the time of the phase is over, no further call is begun and reads are aborted; a write that
 *    has begun ends by itself.
 * 5. In a dry run nothing is sent: a call that may run is answered with its arguments.
 */
export async function executeCalls(run: Run, calls: readonly ToolCall[]): Promise<CallResult[]> {
  run.answer.flush();
  const planned: PlannedCall[] = [];
  for (const call of calls) planned.push(await judge(run, call));
  answerDuplicates(run, planned);
  const deadline = new AbortController();
  const phaseMs = run.toolsPhaseMs();
  const endsAt = performance.now() + phaseMs;
  const phase = { signal: deadline.signal, remainingMs: () => endsAt - performance.now() };
  const timer = setTimeout(() => deadline.abort(new Error("tools phase")), phaseMs);
  const onGone = () => deadline.abort(run.signal.reason);
  run.signal.addEventListener("abort", onGone);
  try {
    for (const batch of batches(planned)) {
      run.signal.throwIfAborted();
      await Promise.all(batch.map((call) => runPlanned(run, call, phase)));
    }
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener("abort", onGone);
  }
  run.signal.throwIfAborted();
  return planned.map(({ call, args, result }) => ({
    ...(result as CallResult),
    call: { ...call, raw: historyArguments(call.raw, args) },
  }));
}

async function judge(run: Run, call: ToolCall): Promise<PlannedCall> {
  const record = run.recordCall(call, "gateway");
  const tool = run.offer.gateway.get(call.name);
  const planned: PlannedCall = { call, record, tool, args: undefined, key: "", result: undefined };
  if (!run.takeCall()) {
    return refuse(run, planned, {
      code: "too_many_tool_calls",
      problem: "tool_calls",
      feedback: CALL_TEXTS[run.locale].limit,
    });
  }
  if (!tool) {
    record.owner = "unknown";
    return refuse(run, planned, {
      code: "tool_not_found",
      problem: "unknown_tool",
      feedback: CALL_TEXTS[run.locale].unknownTool(call.name, run.offer.names),
    });
  }
  const passage = await passGates(call, tool, gateContext(run, call, tool));
  note(run, call, record, passage);
  if (passage.refusal) return refuse(run, planned, passage.refusal);
  run.countTool(call.name);
  planned.args = passage.args;
  planned.key = `${call.name} ${canonicalHash(passage.args ?? {})}`;
  return planned;
}

function note(run: Run, call: ToolCall, record: CallRecord, passage: Passage): void {
  record.gates = passage.verdicts;
  for (const verdict of passage.verdicts) {
    run.scope.verdict(
      {
        tool: call.name,
        gate: verdict.gate,
        pass: verdict.pass,
        ...(!verdict.pass && { problem: verdict.problem }),
      },
      call.id,
    );
    const coercions = verdict.pass ? (verdict.changes ?? []).filter(({ by }) => by === undefined) : [];
    if (coercions.length > 0) run.scope.coerced(call.name, coercions.length);
    if (verdict.pass && verdict.repairs) run.scope.repaired(call.name, verdict.repairs);
  }
}

function refuse(
  run: Run,
  planned: PlannedCall,
  refusal: Pick<Extract<Verdict, { pass: false }>, "code" | "problem" | "feedback">,
): PlannedCall {
  const { call, record } = planned;
  record.outcome = "rejected";
  record.error_kind = refusal.problem;
  planned.result = {
    call,
    message: refusalMessage(call, refusal.code, refusal.feedback),
    refused: refusal.feedback,
  };
  run.scope.corrected(call.name);
  run.answer.progress({
    type: "tool.rejected",
    ...run.names(call),
    problem: refusal.problem,
    message: refusal.feedback,
  });
  run.summarise(call, { ok: false, cached: false, attempts: 0, duration_ms: 0, error_kind: refusal.problem });
  return planned;
}

/** The same call again, in this round or a later one, is answered from what is known. */
function answerDuplicates(run: Run, planned: readonly PlannedCall[]): void {
  const first = new Map<string, PlannedCall>();
  for (const entry of planned) {
    if (entry.result) continue;
    const twin = first.get(entry.key);
    if (twin) {
      settleKnown(run, entry, "duplicate", CALL_TEXTS[run.locale].duplicate(twin.call.id));
      continue;
    }
    first.set(entry.key, entry);
    const known = run.knownResult(entry.key);
    if (known) settleKnown(run, entry, "known", CALL_TEXTS[run.locale].repeated, known);
  }
}

function settleKnown(
  run: Run,
  entry: PlannedCall,
  outcome: "duplicate" | "known",
  sentence: string,
  known?: ToolMessage,
): void {
  const { call, record } = entry;
  record.outcome = outcome;
  const message = known
    ? run.repeated(known, call.id, sentence)
    : refusalMessage(call, "duplicate_call", sentence);
  entry.result = { call, message, refused: undefined };
  if (known) run.answer.progress({ type: "loop.guard", ...run.names(call) });
  run.summarise(call, { ok: message.ok, cached: outcome === "known", attempts: 0, duration_ms: 0 });
}

function* batches(planned: readonly PlannedCall[]): Generator<PlannedCall[]> {
  let batch: PlannedCall[] = [];
  for (const entry of planned) {
    if (entry.result) continue;
    const together = entry.tool?.definition.parallel_safe === true && batch.length < CONCURRENCY;
    if (batch.length > 0 && !(together && batch[0]?.tool?.definition.parallel_safe)) {
      yield batch;
      batch = [];
    }
    batch.push(entry);
  }
  if (batch.length > 0) yield batch;
}

/** The time that all calls of a round have together. */
interface Phase {
  /** Aborts when it is over, or the client has left. */
  signal: AbortSignal;
  remainingMs(): number;
}

async function runPlanned(run: Run, entry: PlannedCall, phase: Phase): Promise<void> {
  const { call, tool, args } = entry;
  if (!tool || !args) return;
  if (phase.signal.aborted) {
    const feedback = CALL_TEXTS[run.locale].phaseOver;
    refuse(run, entry, { code: "tools_phase_over", problem: "tools_phase", feedback });
    return;
  }
  if (run.dryRun) {
    finishCall(run, entry, { attempts: 0, durationMs: 0 }, dryRunMessage(call, args));
    return;
  }
  const { definition } = tool;
  run.answer.progress({ type: "tool.started", ...run.names(call) });
  const span = run.scope.startTool(call.name, call.id, run.round);
  const attempt = {
    runId: run.id,
    callId: call.id,
    sessionId: run.sessionId,
    user: run.user,
    idempotencyKey: `${run.id}:${call.id}`,
    traceparent: span.traceparent,
  };
  const signal = definition.level === "read" ? phase.signal : new AbortController().signal;
  const outcome = await runAttempts(definition, args, attempt, signal, {
    transport: run.deps.transport,
    onRetry: (next, delayMs, kind) =>
      run.answer.progress({
        type: "tool.retry",
        ...run.names(call),
        attempt: next,
        delay_ms: delayMs,
        error_kind: kind,
      }),
    remainingMs: phase.remainingMs,
  });
  const isLate = phase.signal.aborted && !run.signal.aborted && outcome.errorKind === "cancelled";
  const seen = isLate ? late(outcome) : outcome;
  const limited = isLate ? { ...definition, timeout_ms: outcome.durationMs } : definition;
  const message = toToolMessage(call, seen, limited, run.locale);
  finishCall(run, entry, seen, message);
  span.end({
    outcome: outcomeOf(seen.errorKind, message.ok),
    attempts: seen.attempts,
    durationMs: seen.durationMs,
    errorKind: message.errorKind,
  });
}

/** A call that the deadline of the whole phase cut off has timed out, whatever its own timeout. */
function late(outcome: ToolOutcomeResult): ToolOutcomeResult {
  return { ...outcome, failure: new ToolFailure("timeout", "the tools phase is over"), errorKind: "timeout" };
}

function finishCall(run: Run, entry: PlannedCall, outcome: ToolOutcomeResult, message: ToolMessage): void {
  const { call, record } = entry;
  entry.result = { call, message, refused: undefined };
  record.outcome = run.dryRun ? "dry_run" : outcomeOf(outcome.errorKind, message.ok);
  record.attempts = outcome.attempts;
  record.duration_ms = outcome.durationMs;
  if (message.errorKind) record.error_kind = message.errorKind;
  run.remember(entry.key, message);
  const numbers = { attempts: outcome.attempts, duration_ms: outcome.durationMs };
  const more = {
    ...(message.errorKind && { error_kind: message.errorKind }),
    ...(run.dryRun && { dry_run: true as const }),
  };
  const type = message.ok ? "tool.completed" : "tool.failed";
  run.answer.progress({ type, ...run.names(call), ...numbers, ...more });
  run.summarise(call, { ok: message.ok, cached: false, ...numbers, ...more });
}

function outcomeOf(kind: ToolErrorKind | undefined, ok: boolean): ToolOutcome {
  if (kind === "timeout" || kind === "cancelled") return kind;
  return ok ? "ok" : "error";
}

/** A tool message as it goes upstream. */
export function toChatMessage({ role, tool_call_id, content }: ToolMessage): ChatMessage {
  return { role, tool_call_id, content };
}

/**
 * The argument text of a call as it stands in the history: as the model wrote it where that is an object, since some upstreams
 * read it again; else the object that came of it, or the text inside one.
 */
function historyArguments(raw: string, args: JsonObject | undefined): string {
  const parser = new JsonParser({ maxLength: raw.length });
  parser.push(raw);
  if (raw.trimStart().startsWith("{") && parser.status === "complete") return raw;
  if (args) return stringifyJson(args);
  return raw.trim() === "" ? "{}" : JSON.stringify({ unparsed_arguments: raw });
}
