import type { JsonObject } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import { isUnavailable } from "../../errors.ts";
import { setAside } from "../approvals/park.ts";
import type { Performed } from "../approvals/writes.ts";
import { tooManyCalls } from "../gates/context.ts";
import { passGates } from "../gates/gate.ts";
import { mayUse } from "../offer.ts";
import type { ToolScope } from "../ports/telemetry.ts";
import { ToolFailure, type ToolTransport } from "../ports/tools.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { dryRunMessage, type ToolMessage, withNote } from "../results/results.ts";
import type { Run } from "../run-state.ts";
import { outcomeOf, runAttempts, type ToolOutcomeResult } from "./attempt.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import { callKey, dependsOnSession, gateContext } from "./gate-context.ts";
import { overLimit, refuseOverLimit } from "./limit-calls.ts";
import { note, notePolicy, type PlannedCall, refuse } from "./planned-call.ts";
import { idempotencyKey, type StandIns, settle, type Tried } from "./policy.ts";
import { sendWrite } from "./send-write.ts";
import { type SharedOutcome, sharingKey } from "./shared-calls.ts";
import { tellResult } from "./tell-result.ts";

/** The time that all calls of a round have together. */
export interface Phase {
  /** Aborts when it is over, or the client has left. */
  signal: AbortSignal;
  remainingMs(): number;
}

/** Runs a call that passed the gates, and what its tool's policy asks for after that. Afterwards it has its result. */
export async function runPlanned(run: Run, entry: PlannedCall, phase: Phase): Promise<void> {
  const { call, tool, args, approval } = entry;
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
  if (approval) {
    if (await refuseOverLimit(run, entry, tool)) return;
    setAside(run, entry, { tool, args, approval });
    return;
  }
  const key = sharingKeyOf(run, tool, entry.key);
  const known = key === undefined ? undefined : await fromCache(run, tool, key);
  if (known) {
    const message = await tellResult(run, call, known, tool, tool.definition);
    finishCached(run, entry, message);
    await noteSuccess(run, entry, message);
    return;
  }
  if (await refuseOverLimit(run, entry, tool)) return;
  run.answer.progress({ type: "tool.started", ...run.names(call) });
  const first = await send(run, entry, phase, { tool, args, key });
  if (first.isShared) entry.record.shared = true;
  const settled = await settle(first, standIns(run, entry, phase));
  notePolicy(run, entry, settled.policy);
  entry.fatal = settled.fatal;
  const standIn = settled.policy.find(({ fallback }) => fallback?.outcome === "ok")?.fallback?.tool;
  if (standIn !== undefined && first.message.errorKind) entry.record.error_kind = first.message.errorKind;
  finishCall(run, entry, settled.outcome, settled.message, standIn);
  await noteSuccess(run, entry, settled.message);
}

/** A call that succeeded counts in its session, and writes what its tool says into the state. */
async function noteSuccess(
  run: Run,
  { tool, args, record }: PlannedCall,
  { ok, data = null }: ToolMessage,
): Promise<void> {
  if (!ok || !tool || !args) return;
  run.session.used(tool.definition.name);
  if (tool.stateRules.isEmpty) return;
  const { state, faults } = tool.stateRules.changes(
    args,
    data,
    gateContext(run, { id: record.call_id }, tool).stateFacts(),
  );
  const keys = Object.keys(state);
  const obstacle = keys.length === 0 ? undefined : await setState(run, state);
  const reasons =
    obstacle === undefined ? faults : [...faults, ...keys.map((key) => ({ key, reason: obstacle }))];
  if (keys.length + reasons.length > 0)
    record.state = { set: obstacle === undefined ? keys : [], faults: reasons };
}

/** Why the state is not set, if it is not. The call has run in any case. */
async function setState(run: Run, state: JsonObject): Promise<string | undefined> {
  try {
    return (await run.session.set(state)) ? undefined : "the state would be too large";
  } catch (error) {
    if (isUnavailable(error)) return "the store does not answer";
    throw error;
  }
}

function standIns(run: Run, entry: PlannedCall, phase: Phase): StandIns {
  const { call } = entry;
  const under = (name: string, raw: string): ToolCall => ({ ...call, name, raw, reading: "plain" });
  return {
    locale: run.locale,
    find: (name) => run.tools.get(name),
    hasTime: () => !phase.signal.aborted && phase.remainingMs() > 0,
    permits: (tool) => mayUse(run.caller, tool),
    async judge(tool, raw) {
      const named = under(tool.definition.name, raw);
      if (dependsOnSession(tool)) await run.session.refresh();
      const passage = await passGates(named, tool, gateContext(run, named, tool));
      note(run, named, passage);
      if (!passage.args) return passage;
      const refusal = run.takeCallOf(tool)
        ? await overLimit(run, tool)
        : ({ gate: "context", pass: false, ...tooManyCalls(tool, run.locale) } as const);
      return refusal ? { ...passage, args: undefined, refusal } : passage;
    },
    send(tool, args) {
      const { name } = tool.definition;
      run.answer.progress({
        type: "tool.retry",
        ...run.names(call),
        attempt: 1,
        delay_ms: 0,
        fallback: name,
      });
      return send(run, entry, phase, { tool, args, key: sharingKeyOf(run, tool, callKey(tool, args)) });
    },
  };
}

/** A call of a tool as it is sent; `key` is that of calls which may have its result. */
interface Sending {
  tool: RegisteredTool;
  args: JsonObject;
  key: string | undefined;
}

async function send(
  run: Run,
  entry: PlannedCall,
  phase: Phase,
  sending: Sending,
): Promise<Tried & { isShared: boolean }> {
  const { tool, args } = sending;
  const now = () => sendNow(run, entry.call, phase, sending);
  if (tool.definition.level === "read") return { tool, args, ...(await now()) };
  return { tool, args, isShared: false, ...(await sendWrite(run, entry, tool, args, now)) };
}

async function sendNow(
  run: Run,
  call: ToolCall,
  phase: Phase,
  sending: Sending,
): Promise<Performed & { isShared: boolean }> {
  const { tool, key } = sending;
  const { definition } = tool;
  const span = run.scope.startTool(definition.name, call.id, run.round);
  const { outcome: ended, isShared, isToKeep } = await request(run, call, phase, { ...sending, span });
  const isLate = phase.signal.aborted && !run.signal.aborted && ended.errorKind === "cancelled";
  const outcome = isLate ? late(ended) : ended;
  const limited = isLate ? { ...definition, timeout_ms: outcome.durationMs } : definition;
  const message = await tellResult(run, call, outcome, tool, limited);
  // Who came along has read what the attempts brought, and made none.
  const counted = isShared ? { ...outcome, attempts: 0 } : outcome;
  span.end({
    outcome: outcomeOf(outcome.errorKind, message.ok),
    attempts: counted.attempts,
    durationMs: outcome.durationMs,
    errorKind: message.errorKind,
  });
  if (tool.isCanary) run.scope.canary(definition.name, outcomeOf(outcome.errorKind, message.ok));
  if (key !== undefined) {
    run.scope.shared(definition.name, isShared ? "request" : "none");
    if (message.ok && isToKeep) await run.deps.shared.keep(key, ttlOf(tool), outcome);
  }
  return { outcome: counted, message, isShared };
}

/** One request with its retries, or the one that is under way for the same call. */
function request(
  run: Run,
  call: ToolCall,
  phase: Phase,
  { tool, args, key, span }: Sending & { span: ToolScope },
): Promise<SharedOutcome> {
  const { health, shared } = run.deps;
  const transport = tool.local ? localTransport(run, tool.local) : run.deps.transport;
  const attempt = {
    runId: run.id,
    callId: call.id,
    sessionId: run.sessionId,
    user: run.user,
    idempotencyKey: idempotencyKey(run.id, call, tool),
    traceparent: span.traceparent,
  };
  const make = (signal: AbortSignal) =>
    runAttempts(tool.definition, args, attempt, signal, {
      transport,
      health,
      onRetry: (next, delayMs, kind) => {
        if (phase.signal.aborted) return;
        run.answer.progress({
          type: "tool.retry",
          ...run.names(call),
          attempt: next,
          delay_ms: delayMs,
          error_kind: kind,
        });
      },
      // A request that this call has left goes on for the others, in their time.
      remainingMs: () =>
        key !== undefined && phase.signal.aborted ? Number.POSITIVE_INFINITY : phase.remainingMs(),
    });
  if (key !== undefined) return shared.ask(key, { signal: phase.signal, anew: run.wrote }, make);
  const signal = tool.definition.level === "read" ? phase.signal : new AbortController().signal;
  return make(signal).then((outcome) => ({ outcome, isShared: false, isToKeep: false }));
}

/** A tool of the gateway itself is answered by a function, in the name of whom the run is for. */
function localTransport(run: Run, local: NonNullable<RegisteredTool["local"]>): ToolTransport {
  return { send: (_tool, args) => local(args as JsonObject, run.resultOwner) };
}

/** `undefined` where a result must be this call's own. */
function sharingKeyOf(run: Run, tool: RegisteredTool, key: string): string | undefined {
  if (!run.mayShare || tool.definition.level !== "read" || tool.local) return undefined;
  const session = run.isSessionNamed ? run.sessionId : undefined;
  return sharingKey(tool, key, { caller: run.caller.name, user: run.user, session });
}

async function fromCache(
  run: Run,
  tool: RegisteredTool,
  key: string,
): Promise<ToolOutcomeResult | undefined> {
  // What was kept may be from before the write.
  const known = run.wrote ? undefined : await run.deps.shared.find(key, ttlOf(tool));
  if (known) run.scope.shared(tool.definition.name, "cache");
  return known;
}

const ttlOf = ({ definition }: RegisteredTool): number => definition.cache_ttl_s * 1_000;

/** A call that the deadline of the whole phase cut off has timed out, whatever its own timeout. */
function late(outcome: ToolOutcomeResult): ToolOutcomeResult {
  return { ...outcome, failure: new ToolFailure("timeout", "the tools phase is over"), errorKind: "timeout" };
}

/** The model reads an earlier result under the id of this call. */
function finishCached(run: Run, entry: PlannedCall, message: ToolMessage): void {
  const { call, record } = entry;
  entry.result = { call, message: withEntryNote(entry, message), refused: undefined };
  record.outcome = "cached";
  run.loops.remember(entry.key, message);
  run.answer.progress({ type: "tool.cached", ...run.names(call) });
  run.summarise(call, { ok: true, cached: true, attempts: 0, duration_ms: 0 });
}

function withEntryNote({ note: said }: PlannedCall, message: ToolMessage): ToolMessage {
  return said === undefined ? message : { ...message, content: withNote(message.content, said) };
}

function finishCall(
  run: Run,
  entry: PlannedCall,
  outcome: ToolOutcomeResult,
  answer: ToolMessage,
  fallback?: string,
): void {
  const { call, record } = entry;
  const message = withEntryNote(entry, answer);
  entry.result = { call, message, refused: undefined };
  record.outcome = run.dryRun ? "dry_run" : outcomeOf(outcome.errorKind, message.ok);
  record.attempts = outcome.attempts;
  record.duration_ms = outcome.durationMs;
  if (message.errorKind) record.error_kind = message.errorKind;
  run.loops.remember(entry.key, message);
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
