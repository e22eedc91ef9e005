import type { JsonObject } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import { passGates } from "../gates/gate.ts";
import { mayUse } from "../offer.ts";
import { ToolFailure } from "../ports/tools.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { dryRunMessage, type ToolMessage, toToolMessage, withNote } from "../results/results.ts";
import type { Run } from "../run-state.ts";
import { outcomeOf, runAttempts, type ToolOutcomeResult } from "./attempt.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import { gateContext } from "./gate-context.ts";
import { note, notePolicy, type PlannedCall, refuse } from "./planned-call.ts";
import { idempotencyKey, type StandIns, settle, type Tried } from "./policy.ts";

/** The time that all calls of a round have together. */
export interface Phase {
  /** Aborts when it is over, or the client has left. */
  signal: AbortSignal;
  remainingMs(): number;
}

/** Runs a call that passed the gates, and what its tool's policy asks for after that. Afterwards it has its result. */
export async function runPlanned(run: Run, entry: PlannedCall, phase: Phase): Promise<void> {
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
  run.answer.progress({ type: "tool.started", ...run.names(call) });
  const first = await send(run, call, phase, tool, args);
  const settled = await settle(first, standIns(run, call, phase));
  notePolicy(run, entry, settled.policy);
  entry.fatal = settled.fatal;
  const standIn = settled.policy.find(({ fallback }) => fallback?.outcome === "ok")?.fallback?.tool;
  if (standIn !== undefined && first.message.errorKind) entry.record.error_kind = first.message.errorKind;
  finishCall(run, entry, settled.outcome, settled.message, standIn);
}

function standIns(run: Run, call: ToolCall, phase: Phase): StandIns {
  const under = (name: string, raw: string): ToolCall => ({ ...call, name, raw, reading: "plain" });
  return {
    locale: run.locale,
    find: (name) => run.tools.get(name),
    hasTime: () => !phase.signal.aborted && phase.remainingMs() > 0,
    permits: (tool) => mayUse(run.caller, tool),
    async judge(tool, raw) {
      const named = under(tool.definition.name, raw);
      const passage = await passGates(named, tool, gateContext(run, named, tool));
      note(run, named, passage);
      return passage;
    },
    send(tool, args) {
      const { name } = tool.definition;
      run.countTool(name);
      run.answer.progress({
        type: "tool.retry",
        ...run.names(call),
        attempt: 1,
        delay_ms: 0,
        fallback: name,
      });
      return send(run, call, phase, tool, args);
    },
  };
}

async function send(
  run: Run,
  call: ToolCall,
  phase: Phase,
  tool: RegisteredTool,
  args: JsonObject,
): Promise<Tried> {
  const { definition } = tool;
  if (definition.level !== "read") await run.watch?.writing();
  const span = run.scope.startTool(definition.name, call.id, run.round);
  const attempt = {
    runId: run.id,
    callId: call.id,
    sessionId: run.sessionId,
    user: run.user,
    idempotencyKey: idempotencyKey(run.id, call, tool),
    traceparent: span.traceparent,
  };
  const signal = definition.level === "read" ? phase.signal : new AbortController().signal;
  const ended = await runAttempts(definition, args, attempt, signal, {
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
  if (definition.level !== "read") run.forgetResults();
  const isLate = phase.signal.aborted && !run.signal.aborted && ended.errorKind === "cancelled";
  const outcome = isLate ? late(ended) : ended;
  const limited = isLate ? { ...definition, timeout_ms: outcome.durationMs } : definition;
  const message = toToolMessage(call, outcome, limited, run.locale);
  span.end({
    outcome: outcomeOf(outcome.errorKind, message.ok),
    attempts: outcome.attempts,
    durationMs: outcome.durationMs,
    errorKind: message.errorKind,
  });
  return { tool, args, outcome, message };
}

/** A call that the deadline of the whole phase cut off has timed out, whatever its own timeout. */
function late(outcome: ToolOutcomeResult): ToolOutcomeResult {
  return { ...outcome, failure: new ToolFailure("timeout", "the tools phase is over"), errorKind: "timeout" };
}

function finishCall(
  run: Run,
  entry: PlannedCall,
  outcome: ToolOutcomeResult,
  answer: ToolMessage,
  fallback?: string,
): void {
  const { call, record } = entry;
  const message =
    entry.note === undefined ? answer : { ...answer, content: withNote(answer.content, entry.note) };
  entry.result = { call, message, refused: undefined };
  record.outcome = run.dryRun ? "dry_run" : outcomeOf(outcome.errorKind, message.ok);
  record.attempts = outcome.attempts;
  record.duration_ms = outcome.durationMs;
  if (message.errorKind) record.error_kind = message.errorKind;
  run.remember(entry.key, message);
  const numbers = { attempts: outcome.attempts, duration_ms: outcome.durationMs };
  const more = {
    ...(message.errorKind && { error_kind: message.errorKind }),
    ...(fallback !== undefined && { fallback }),
    ...(run.dryRun && { dry_run: true as const }),
  };
  const type = message.ok ? "tool.completed" : "tool.failed";
  run.answer.progress({ type, ...run.names(call), ...numbers, ...more });
  run.summarise(call, { ok: message.ok, cached: false, ...numbers, ...more });
}
