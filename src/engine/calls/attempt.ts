import type { JsonObject } from "../../core/json/value.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { TemplateError } from "../../core/tool-template.ts";
import type { ToolOutcome } from "../ports/telemetry.ts";
import { type ToolAttempt, ToolFailure, type ToolReply, type ToolTransport } from "../ports/tools.ts";
import { retrying } from "./retry.ts";
import type { ToolHealth } from "./tool-health.ts";
import { mayResend } from "./write-policy.ts";

/**
 * What went wrong with a call, by what may be done about it. `argument`: the model can correct it. `business`: the tool said no
 * (400, 404, 409, 410, 422). `permission`: 401, 403. `transient`: 408, 425, 429, 5xx, no connection. `permanent`: everything else.
 */
export type ToolErrorKind =
  | "argument"
  | "business"
  | "permission"
  | "transient"
  | "permanent"
  | "timeout"
  | "cancelled";

/** How a call ended. Exactly one of `reply` and `failure` is there; no `errorKind` means the tool answered 2xx. */
export interface ToolOutcomeResult {
  reply?: ToolReply;
  failure?: ToolFailure;
  errorKind?: ToolErrorKind;
  /** Requests that were made; 0 for a tool that is left alone because it keeps failing. */
  attempts: number;
  durationMs: number;
}

export interface AttemptDeps {
  transport: ToolTransport;
  health: ToolHealth;
  /** Before the wait for attempt number `attempt`. */
  onRetry?: (attempt: number, delayMs: number, kind: ToolErrorKind) => void;
  /** Time left for this call; without it only `signal` ends the waiting. */
  remainingMs?: () => number;
  /** From 0 to below 1; for tests. */
  random?: () => number;
}

type Try = Pick<ToolOutcomeResult, "reply" | "failure" | "errorKind">;

const BUSINESS = new Set([400, 404, 409, 410, 422]);
const TRANSIENT = new Set([408, 425, 429]);

/**
 * Runs one call to its end. Never throws for what the tool or the network does.
 *
 * 1. Only transient failures are tried again, `tool.retry` times; a timeout never is.
 * 2. A `write` or `admin` tool is tried again only if no connection came about, or it knows the key of the call: it may have been carried
 *    out otherwise.
 * 3. A tool that keeps failing is not asked, and retries have a budget: see `Health`.
 * 4. Every attempt carries the same idempotency key.
 * 5. After an abort of `signal` the outcome is `cancelled`, also if it came during a wait.
 */
export async function runAttempts(
  tool: ToolDefinition,
  args: JsonObject,
  attempt: ToolAttempt,
  signal: AbortSignal,
  deps: AttemptDeps,
): Promise<ToolOutcomeResult> {
  const { onRetry, remainingMs, random, health } = deps;
  const startedAt = performance.now();
  let attempts = 0;
  let sends = 0;
  const policy = {
    retries: tool.retry,
    baseMs: tool.backoff_ms,
    again(last: Try) {
      if (last.failure?.kind !== "unreachable") sends++;
      const sent = { sends, elapsedMs: performance.now() - startedAt };
      return mayRepeat(tool, last, sent) ? { afterMs: last.reply?.retryAfterMs } : undefined;
    },
    permit: () => health.mayRetry(tool),
    onRetry: (next: number, delayMs: number, last: Try) =>
      onRetry?.(next, delayMs, last.errorKind ?? "transient"),
    remainingMs,
    random,
  };
  let last: Try | undefined;
  const outcome = await retrying(policy, signal, async (number) => {
    const tried = await health.attempt(tool, number === 1, () => {
      attempts = number;
      return tryOnce(tool, args, attempt, signal, deps.transport);
    });
    // A retry that is not made leaves the call with what the attempt before it brought.
    last = tried.failure?.kind === "unavailable" ? (last ?? tried) : tried;
    return last;
  }).catch((error: unknown) => cancelled(error, signal));
  return { ...outcome, attempts, durationMs: Math.round(performance.now() - startedAt) };
}

async function tryOnce(
  tool: ToolDefinition,
  args: JsonObject,
  attempt: ToolAttempt,
  signal: AbortSignal,
  transport: ToolTransport,
): Promise<Try> {
  try {
    const reply = await transport.send(tool, args, attempt, signal);
    const errorKind = kindOfStatus(reply.status);
    return { reply, ...(errorKind && { errorKind }) };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { failure: error, errorKind: kindOfFailure(error) };
  }
}

function cancelled(error: unknown, signal: AbortSignal): Try {
  if (!signal.aborted) throw error;
  return { failure: new ToolFailure("cancelled", "cancelled", { cause: error }), errorKind: "cancelled" };
}

function mayRepeat(tool: ToolDefinition, last: Try, sent: { sends: number; elapsedMs: number }): boolean {
  if (last.errorKind !== "transient" || last.failure?.kind === "unavailable") return false;
  return tool.level === "read" || mayResend(tool, last, sent);
}

/** How a call that was sent ended, for records and counting. */
export function outcomeOf(kind: ToolErrorKind | undefined, ok: boolean): ToolOutcome {
  if (kind === "timeout" || kind === "cancelled") return kind;
  return ok ? "ok" : "error";
}

function kindOfStatus(status: number): ToolErrorKind | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (BUSINESS.has(status)) return "business";
  if (status === 401 || status === 403) return "permission";
  return TRANSIENT.has(status) || status >= 500 ? "transient" : "permanent";
}

function kindOfFailure(failure: ToolFailure): ToolErrorKind {
  switch (failure.kind) {
    case "timeout":
    case "cancelled":
      return failure.kind;
    case "unreachable":
    case "unavailable":
    case "interrupted":
      return "transient";
    case "invalid_request":
      return isArgumentFault(failure.cause) ? "argument" : "permanent";
    default:
      return failure.kind satisfies never;
  }
}

function isArgumentFault(cause: unknown): boolean {
  return cause instanceof TemplateError && cause.problem !== "secret" && cause.problem !== "definition";
}
