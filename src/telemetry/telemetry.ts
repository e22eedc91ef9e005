import { SpanKind } from "@opentelemetry/api";
import type { Logger } from "pino";
import type {
  GateNote,
  LedgerNote,
  PolicyNote,
  RoundScope,
  RunEnd,
  RunInfo,
  RunScope,
  Telemetry,
  ToolEnd,
  ToolOutcome,
  ToolScope,
} from "../engine/ports/telemetry.ts";
import type { GatewayError } from "../errors.ts";
import { logShare } from "./log-share.ts";
import type { Metrics } from "./metrics.ts";
import { ATTRIBUTE, OPERATION, usageAttributes } from "./semantic-names.ts";
import { startTrace, type TraceScope } from "./trace-scope.ts";
import type { Tracing } from "./tracing.ts";

export interface TelemetryParts {
  logger: Logger;
  metrics: Metrics;
  tracing: Pick<Tracing, "tracer">;
  /** Share of the runs that are logged in full, 0 to 1; of the others there are warnings only. All of them unless given. */
  logShare?: number;
}

/**
 * Counts, times, logs and traces runs:
 * 1. a span per run, round and tool call, the latter two below the run's; trace ids exist also where nothing is recorded;
 * 2. at level info one line for the start and end of a run, for the end of a round and of a tool call, and for a call that a
 *    gate refused; at level debug also for a gate that let it pass. Failed upstreams and runs with a fault of ours or of an upstream
 *    are warnings; an internal error has its stack;
 * 3. every line has the members `trace_id`, `run_id`, `session_id`, `tool_name`, `stage`, `status`, `duration_ms` and `error`;
 * 4. arguments, results and texts of a conversation are nowhere in it, and names that others chose are cut at 128 characters;
 * 5. ending anything twice counts once.
 */
export function createTelemetry(parts: TelemetryParts): Telemetry {
  const loggerOf = logShare(parts.logger, parts.logShare ?? 1);
  return {
    startRun: (info) => new ObservedRun(parts, info, loggerOf),
    ledger: (note) => noteLedger(parts, note),
    budgetRefused: () => parts.metrics.budgetRefusals.inc(),
    runRefused: () => parts.metrics.admission.refused("concurrency"),
  };
}

function noteLedger({ metrics, logger }: TelemetryParts, note: LedgerNote): void {
  const { tool, id, runId, sessionId, step, end } = note;
  const series = metrics.tool(tool);
  series.ledger(step);
  if (end) series.ended(end.outcome, end.durationMs / 1000);
  const level = step === "outcome_unknown" ? "warn" : "info";
  if (!logger.isLevelEnabled(level)) return;
  logger[level]({
    trace_id: null,
    run_id: runId,
    session_id: clip(sessionId),
    tool_name: clip(tool),
    stage: "approval",
    status: step,
    duration_ms: end?.durationMs ?? null,
    error: step === "outcome_unknown" ? step : null,
    approval_id: id,
  });
}

const MAX_NAME = 128;
const MAX_LISTED = 20;

const clip = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);

class ObservedRun implements RunScope {
  readonly traceId: string;
  readonly #metrics: Metrics;
  readonly #logger: Logger;
  readonly #info: RunInfo;
  readonly #model: string;
  readonly #trace: TraceScope;
  readonly #startedAt: number;
  #reachedUpstream = false;
  #firstTokenMs: number | undefined;
  #ended = false;

  constructor(parts: TelemetryParts, info: RunInfo, loggerOf: (traceId: string) => Logger) {
    this.#metrics = parts.metrics;
    this.#info = info;
    this.#model = clip(info.model);
    this.#startedAt = info.receivedAt ?? performance.now();
    this.#trace = startTrace(parts.tracing.tracer, info.traceparent, OPERATION.run, () => ({
      [ATTRIBUTE.operation]: OPERATION.run,
      [ATTRIBUTE.provider]: "openai",
      [ATTRIBUTE.model]: this.#model,
      [ATTRIBUTE.stream]: info.stream,
      [ATTRIBUTE.conversation]: clip(info.sessionId),
      [ATTRIBUTE.runId]: info.runId,
    }));
    this.traceId = this.#trace.traceId;
    this.#logger = loggerOf(this.traceId);
    this.#metrics.openRuns.inc();
    this.#whenInfo(() => ({ ...this.#line("run", "started"), model: this.#model, stream: info.stream }));
  }

  startRound(round: number): RoundScope {
    const startedAt = performance.now();
    if (!this.#reachedUpstream) {
      this.#reachedUpstream = true;
      this.#metrics.addedSeconds.observe((startedAt - this.#startedAt) / 1000);
    }
    const scope = this.#trace.child(
      () => `${OPERATION.round} ${this.#model}`,
      SpanKind.CLIENT,
      () => ({
        [ATTRIBUTE.operation]: OPERATION.round,
        [ATTRIBUTE.provider]: "openai",
        [ATTRIBUTE.model]: this.#model,
        [ATTRIBUTE.round]: round,
      }),
    );
    const end = once(({ finish, upstream, protocol, error, usage }: Parameters<RoundScope["end"]>[0]) => {
      this.#metrics.rounds.inc({ protocol });
      scope.end(
        () => ({
          ...usageAttributes(usage),
          [ATTRIBUTE.finishReasons]: [clip(finish)],
          [ATTRIBUTE.upstream]: upstream,
        }),
        error?.code,
      );
      this.#whenInfo(() => ({
        ...this.#line("round", clip(finish), performance.now() - startedAt, error?.code),
        round,
        upstream,
      }));
    });
    return { traceparent: scope.traceparent, end };
  }

  startTool(tool: string, callId: string, round: number): ToolScope {
    const name = clip(tool);
    const scope = this.#trace.child(
      () => `${OPERATION.tool} ${name}`,
      SpanKind.INTERNAL,
      () => ({
        [ATTRIBUTE.operation]: OPERATION.tool,
        [ATTRIBUTE.toolName]: name,
        [ATTRIBUTE.toolCallId]: clip(callId),
        [ATTRIBUTE.toolType]: "function",
        [ATTRIBUTE.round]: round,
      }),
    );
    const end = once((result: ToolEnd) => this.#toolEnded(tool, callId, round, scope, result));
    return { traceparent: scope.traceparent, end };
  }

  #toolEnded(tool: string, callId: string, round: number, scope: TraceScope, end: ToolEnd): void {
    const { outcome, attempts, durationMs, errorKind, argumentsSha256, resultBytes } = end;
    const error = outcome === "ok" ? undefined : (errorKind ?? outcome);
    this.#metrics.tool(tool).ended(outcome, durationMs / 1000);
    scope.end(() => ({ [ATTRIBUTE.attempts]: attempts, [ATTRIBUTE.outcome]: outcome }), error);
    this.#whenInfo(() => ({
      ...this.#line("tool", outcome, durationMs, error, tool),
      call_id: clip(callId),
      round,
      attempts,
      ...(argumentsSha256 !== undefined && { arguments_sha256: argumentsSha256 }),
      ...(resultBytes !== undefined && { result_bytes: resultBytes }),
    }));
  }

  verdict(note: GateNote, callId: string): void {
    this.#metrics.tool(note.tool).verdict(note);
    const logger = this.#logger;
    const level = note.pass ? "debug" : "info";
    if (!logger.isLevelEnabled(level)) return;
    const line = this.#line("gate", note.pass ? "passed" : "rejected", null, note.problem, note.tool);
    logger[level]({ ...line, gate: note.gate, call_id: clip(callId) });
  }

  coerced(tool: string, count: number): void {
    this.#metrics.tool(tool).coerced(count);
  }

  canary(tool: string, outcome: ToolOutcome): void {
    this.#metrics.tool(tool).canary(outcome);
  }

  selected(seconds: number): void {
    this.#metrics.selectionSeconds.observe(seconds);
  }

  shared(tool: string, from: "cache" | "request" | "none"): void {
    this.#metrics.tool(tool).shared(from);
  }

  repaired(tool: string, kinds: readonly string[]): void {
    this.#metrics.tool(tool).repaired(kinds);
  }

  policy({ tool, class: kind, action, parameters }: PolicyNote, callId: string): void {
    this.#metrics.tool(tool).policy(kind, action);
    this.#whenInfo(() => ({
      ...this.#line("policy", action, null, kind, tool),
      call_id: clip(callId),
      ...(parameters && { parameters: parameters.slice(0, MAX_LISTED).map(clip) }),
    }));
  }

  shortened(results: number): void {
    this.#metrics.shortened.inc(results);
  }

  refused(tool: string): void {
    this.#metrics.tool(tool).refused();
  }

  correctionEnded(outcome: "corrected" | "gave_up" | "abandoned"): void {
    this.#metrics.corrections.inc({ outcome });
  }

  looped(kind: "call" | "cycle"): void {
    this.#metrics.loopGuards.inc({ kind });
  }

  firstToken(): void {
    if (this.#firstTokenMs !== undefined) return;
    this.#firstTokenMs = performance.now() - this.#startedAt;
    this.#metrics.firstTokenSeconds.observe(this.#firstTokenMs / 1000);
  }

  upstreamFailed(upstream: string, error: GatewayError): void {
    this.#metrics.upstreamErrors.inc({ upstream, code: error.code });
    if (!this.#logger.isLevelEnabled("warn")) return;
    const line = this.#line("upstream", "failed", performance.now() - this.#startedAt, error.code);
    this.#logger.warn({ ...line, upstream, upstream_status: error.options.upstream?.status });
  }

  end(end: RunEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    const { stopReason, rounds, error } = end;
    const durationMs = performance.now() - this.#startedAt;
    this.#metrics.runEnded(stopReason, durationMs / 1000);
    const first = this.#firstTokenMs;
    this.#trace.end(
      () => ({
        [ATTRIBUTE.stopReason]: stopReason,
        [ATTRIBUTE.rounds]: rounds,
        ...(first !== undefined && { [ATTRIBUTE.firstChunkSeconds]: first / 1000 }),
      }),
      error?.code,
    );
    const level = severity(error);
    const logger = this.#logger;
    if (!logger.isLevelEnabled(level)) return;
    const line = this.#line("run", error ? "failed" : "completed", durationMs, error?.code);
    const fault = level === "error" ? { err: error?.cause ?? error } : undefined;
    logger[level]({ ...line, stop_reason: stopReason, rounds, ...fault });
  }

  #whenInfo(line: () => object): void {
    if (this.#logger.isLevelEnabled("info")) this.#logger.info(line());
  }

  #line(stage: string, status: string, durationMs: number | null = null, error?: string, tool?: string) {
    return {
      trace_id: this.traceId,
      run_id: this.#info.runId,
      session_id: clip(this.#info.sessionId),
      tool_name: tool === undefined ? null : clip(tool),
      stage,
      status,
      duration_ms: durationMs === null ? null : Math.round(durationMs * 1000) / 1000,
      error: error ?? null,
    };
  }
}

function severity(error: GatewayError | undefined): "info" | "warn" | "error" {
  if (error?.code === "internal_error") return "error";
  return error && error.status >= 500 ? "warn" : "info";
}

function once<T>(action: (value: T) => void): (value: T) => void {
  let done = false;
  return (value) => {
    if (done) return;
    done = true;
    action(value);
  };
}
