import { GatewayError } from "../errors.ts";
import type { UpstreamTarget } from "./ports.ts";
import { readReply } from "./read-reply.ts";
import type { Reply, ReplyContext } from "./reply-content.ts";
import { retrying } from "./retry.ts";
import type { Run } from "./run-state.ts";

/** Argument text of one call, in UTF-16 units: 1 MiB. */
const MAX_ARGUMENT_LENGTH = 1024 * 1024;
const RETRY_BASE_MS = 250;
/** A provider that asks for a longer pause is asked by the client again, not by the gateway. */
const LONGEST_PAUSE_MS = 5_000;
/** Statuses after which the same request may succeed. */
const PASSING = new Set([408, 409, 425, 429]);

type Try = { reply: Reply } | { error: unknown };

/**
 * One round: the model's reply to the conversation so far.
 *
 * 1. It is asked again, on the same target and then on its fallbacks, only while the client has seen nothing of the run.
 * 2. A 400, 401, 403, 404 or 422 is final.
 */
export async function askModel(run: Run): Promise<Reply> {
  run.round++;
  run.limits.rounds++;
  const round = run.scope.startRound(run.round);
  const record = run.startRecord(run.round);
  const startedAt = run.deps.now();
  try {
    const { reply, target } = await askTargets(run, round.traceparent);
    record.upstream = target.name;
    record.finish_reason = reply.finish;
    record.usage = reply.usage ?? null;
    run.addUsage(reply.usage);
    round.end({ finish: reply.finish, upstream: target.name, ...(reply.usage && { usage: reply.usage }) });
    return reply;
  } catch (error) {
    record.finish_reason = "error";
    round.end({
      finish: "error",
      upstream: record.upstream,
      ...(error instanceof GatewayError && { error }),
    });
    throw error;
  } finally {
    record.duration_ms = run.deps.now() - startedAt;
  }
}

async function askTargets(run: Run, traceparent: string): Promise<{ reply: Reply; target: UpstreamTarget }> {
  const targets = run.deps.upstream.route(run.request.model);
  const body = requestBody(run);
  const context = replyContext(run);
  const request = {
    body,
    stream: run.request.stream === true,
    authorization: run.authorization,
    traceparent,
  };
  let last: unknown;
  for (const target of targets) {
    const policy = {
      retries: target.retry,
      baseMs: RETRY_BASE_MS,
      again: (outcome: Try) =>
        "error" in outcome && mayAsk(run, outcome.error) ? pauseOf(outcome.error) : undefined,
    };
    const outcome: Try = await retrying(policy, run.signal, async () => {
      run.answer.restart();
      try {
        return { reply: await readReply(target, request, context, run.signal) };
      } catch (error) {
        if (error instanceof GatewayError) run.scope.upstreamFailed(target.name, error);
        return { error };
      }
    });
    if ("reply" in outcome) return { reply: outcome.reply, target };
    last = outcome.error;
    if (!mayAsk(run, last)) break;
  }
  throw last;
}

function mayAsk(run: Run, error: unknown): boolean {
  if (run.answer.shown || run.signal.aborted || !(error instanceof GatewayError)) return false;
  const { upstream } = error.options;
  return upstream
    ? PASSING.has(upstream.status) || upstream.status >= 500
    : error.code !== "response_too_large";
}

/** `undefined` where the wait would be too long to make the client wait with it. */
function pauseOf(error: unknown): { afterMs?: number } | undefined {
  const header = error instanceof GatewayError ? error.options.headers?.["retry-after"] : undefined;
  if (header === undefined) return {};
  const afterMs = Number(header) * 1000;
  return afterMs <= LONGEST_PAUSE_MS ? { afterMs } : undefined;
}

function replyContext(run: Run): ReplyContext {
  return {
    answer: run.answer,
    owner: (name) => run.offer.owner(name),
    keep: run.offer.gateway.size > 0,
    maxArgumentLength: MAX_ARGUMENT_LENGTH,
    nextCallId: (wireId) => run.nextCallId(wireId),
    onArgument: (call, name, value) => run.argumentReady(call, name, value),
  };
}

/** The client's own bytes where there is nothing to add; else its request with the tools and the conversation so far. */
function requestBody(run: Run): Buffer | string {
  const { request, offer } = run;
  if (offer.gateway.size === 0 && run.messages === request.messages) return run.raw;
  const body: Record<string, unknown> = { ...request, messages: run.messages };
  if (offer.gateway.size === 0) return JSON.stringify(body);
  body["tools"] = offer.specs(request);
  if (run.lastRound) body["tool_choice"] = "none";
  else if (run.round > 1 && isForced(request.tool_choice)) body["tool_choice"] = "auto";
  return JSON.stringify(body);
}

/** A forced choice holds for the first round only; an allow-list of tools stays. */
function isForced(choice: unknown): boolean {
  return (
    choice === "required" ||
    (typeof choice === "object" && choice !== null && (choice as { type?: unknown }).type !== "allowed_tools")
  );
}
