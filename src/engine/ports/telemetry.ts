import type { ErrorClass, PolicyAction } from "../../core/tool.ts";
import type { GatewayError } from "../../errors.ts";
import type { LedgerState } from "./ledger.ts";

export type ToolOutcome = "ok" | "error" | "rejected" | "timeout" | "cancelled";

export interface RunInfo {
  runId: string;
  sessionId: string;
  model: string;
  stream: boolean;
  /** The client's `traceparent`, if it sent one. */
  traceparent: string | undefined;
  /** `performance.now()` when the request came in; the start of the run unless given. */
  receivedAt?: number;
}

export interface RunEnd {
  stopReason: string;
  rounds: number;
  /** Set when the run failed. */
  error?: GatewayError;
}

export interface ToolEnd {
  outcome: ToolOutcome;
  attempts: number;
  durationMs: number;
  errorKind?: string | undefined;
  /** Hash of the arguments that were sent, in place of the arguments. */
  argumentsSha256?: string | undefined;
  resultBytes?: number | undefined;
}

export interface GateNote {
  tool: string;
  gate: string;
  pass: boolean;
  /** Closed word for what was wrong, for example `missing`; absent when passed. */
  problem?: string;
}

export interface PolicyNote {
  /** The tool whose policy it was. */
  tool: string;
  class: ErrorClass;
  action: PolicyAction;
  /** Deprecated parameters of the schema that the call used. */
  parameters?: readonly string[];
}

/** One step of a call that may change something. */
export interface LedgerNote {
  tool: string;
  id: string;
  runId: string;
  sessionId: string;
  /** `requested`: a person is asked; else the state that the call has reached. */
  step: "requested" | LedgerState;
  /** How the call ended, where it was carried out without an open run. */
  end?: Pick<ToolEnd, "outcome" | "durationMs">;
}

export interface RoundScope {
  /** W3C `traceparent` to send with the request of this round. */
  readonly traceparent: string;
  end(outcome: {
    finish: string;
    upstream: string;
    protocol: string;
    error?: GatewayError;
    usage?: unknown;
  }): void;
}

export interface ToolScope {
  readonly traceparent: string;
  end(end: ToolEnd): void;
}

/** Everything that is counted, timed, logged and traced about one run. */
export interface RunScope {
  readonly traceId: string;
  startRound(round: number): RoundScope;
  startTool(tool: string, callId: string, round: number): ToolScope;
  verdict(note: GateNote, callId: string): void;
  coerced(tool: string, count: number): void;
  /** The arguments of a call were not JSON; `kinds` are closed words for what was put right in them. */
  repaired(tool: string, kinds: readonly string[]): void;
  /** A call of a canary has ended. */
  canary(tool: string, outcome: ToolOutcome): void;
  /** Tools were chosen for the run. */
  selected(seconds: number): void;
  /** A call of a tool that can be answered without a request of its own: whether it was. */
  shared(tool: string, from: "cache" | "request" | "none"): void;
  /** A tool's policy did something else than tell the model of a failure. */
  policy(note: PolicyNote, callId: string): void;
  /** So many old results were left out of the conversation. */
  shortened(results: number): void;
  /** A call that was refused with an explanation for the model. */
  refused(tool: string): void;
  /** The model repeated itself: made one call again, or went through the same rounds. */
  looped(kind: "call" | "cycle"): void;
  /** A chain of corrections came to its end. */
  correctionEnded(outcome: "corrected" | "gave_up" | "abandoned"): void;
  /** The client gets its first text now. */
  firstToken(): void;
  upstreamFailed(upstream: string, error: GatewayError): void;
  end(end: RunEnd): void;
}

export interface Telemetry {
  startRun(info: RunInfo): RunScope;
  /** Counts and logs what becomes of calls that may change something. */
  ledger(note: LedgerNote): void;
  /** A request was refused because the budget of its session or key is spent or reserved. */
  budgetRefused(): void;
  /** A request was not admitted, because as many runs are open as may be. */
  runRefused(): void;
}
