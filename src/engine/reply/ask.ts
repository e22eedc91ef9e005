import { hasThought } from "../../core/protocol/text/prompt/formats.ts";
import { GatewayError } from "../../errors.ts";
import { retrying } from "../calls/retry.ts";
import type { UpstreamRequest, UpstreamTarget } from "../ports/upstream.ts";
import type { RoundRecord } from "../run-record.ts";
import type { Run } from "../run-state.ts";
import { readReply } from "./read-reply.ts";
import type { Reply, ReplyContext } from "./reply-content.ts";
import { requestBody } from "./request-body.ts";
import { textAdapterOf, thoughtOf } from "./text-calls.ts";
import { isIll, leftAlone } from "./upstream-health.ts";

/** Argument text of one call, in UTF-16 units: 1 MiB. */
const MAX_ARGUMENT_LENGTH = 1024 * 1024;
const RETRY_BASE_MS = 250;
/** Statuses below 500 after which the same request may succeed at the same place. */
const PASSING = new Set([408, 409, 425]);

type Try = { reply: Reply } | { error: unknown };

/**
 * One round: the model's reply to the conversation so far.
 *
 * 1. It is asked again only while the client has seen nothing of the run.
 * 2. On the same target after 408, 409, 425, 5xx and failed connections. A reply that came whole and is wrong would be again.
 * 3. On a fallback after all that and after 429. Without one, the client gets a 429 with its `retry-after`: it knows best
 *    whether to wait, and two who wait ask twice as often.
 * 4. Any other status is final.
 * 5. What broke off inside a call, or in one piece fell silent, is asked for once more in the same round at the same place, whatever
 *    the number of retries; then it is final.
 * 6. A target that keeps failing is passed over, and its retries have a budget: see `Health`.
 */
export async function askModel(run: Run): Promise<Reply> {
  run.round++;
  run.limits.rounds++;
  const round = run.scope.startRound(run.round);
  const record = run.startRecord(run.round);
  const startedAt = run.deps.now();
  try {
    const { reply, target } = await askTargets(run, round.traceparent, record);
    const finish = reply.stopped ? "stopped" : reply.finish;
    record.finish_reason = finish;
    record.protocol = reply.protocol;
    run.recordThought(thoughtOf(reply));
    record.usage = reply.usage ?? null;
    run.addUsage(reply.usage);
    round.end({
      finish,
      upstream: target.name,
      protocol: reply.protocol,
      ...(reply.usage && { usage: reply.usage }),
    });
    return reply;
  } catch (thrown) {
    // A wait between attempts ends with an error of its own; why the run was given up is what counts.
    const error: unknown = run.signal.aborted ? run.signal.reason : thrown;
    record.finish_reason = "error";
    if (run.signal.aborted || run.answer.shown) run.spend?.broken();
    round.end({
      finish: "error",
      upstream: record.upstream,
      protocol: record.protocol,
      ...(error instanceof GatewayError && { error }),
    });
    throw error;
  } finally {
    record.duration_ms = run.deps.now() - startedAt;
    run.onRecord();
  }
}

async function askTargets(
  run: Run,
  traceparent: string,
  record: RoundRecord,
): Promise<{ reply: Reply; target: UpstreamTarget }> {
  const targets = run.deps.upstream.route(run.request.model);
  const shared = replyContext(run);
  const contextOf = (target: UpstreamTarget): ReplyContext => {
    const { protocol } = target;
    const textAdapter = textAdapterOf(run, target);
    return textAdapter ? { ...shared, textAdapter, keep: shared.keep || hasThought(protocol) } : shared;
  };
  const request = {
    stream: run.request.stream === true,
    authorization: run.authorization,
    traceparent,
  };
  const attempt = async (
    target: UpstreamTarget,
    body: UpstreamRequest["body"],
    first: boolean,
  ): Promise<Try> => {
    const ended = run.deps.upstreams.of(target.name).begin(first);
    if (!ended) return { error: leftAlone() };
    run.answer.restart();
    run.hopeless.begin();
    try {
      const reply = await readReply(target, { ...request, body }, contextOf(target), run.signal);
      ended(false);
      return { reply };
    } catch (error) {
      if (!run.signal.aborted) ended(error instanceof GatewayError && isIll(error));
      if (error instanceof GatewayError) run.scope.upstreamFailed(target.name, error);
      return { error };
    }
  };
  let isNewRequest = false;
  let last: unknown;
  for (const target of targets) {
    record.upstream = target.name;
    const body = requestBody(run, target);
    const policy = {
      retries: target.retry,
      baseMs: RETRY_BASE_MS,
      again: (outcome: Try) => ("error" in outcome && mayAsk(run, outcome.error, false) ? {} : undefined),
      permit: () => run.deps.upstreams.of(target.name).mayRetry(),
    };
    const outcome = await retrying(policy, run.signal, async (number) => {
      const first = await attempt(target, body, number === 1);
      if (isNewRequest || !isCutOff(first) || run.answer.shown || run.signal.aborted) return first;
      isNewRequest = true;
      return attempt(target, body, false);
    });
    if ("reply" in outcome) return { reply: outcome.reply, target };
    last = outcome.error;
    if (!mayAsk(run, last, true)) break;
  }
  throw last;
}

function isCutOff(outcome: Try): boolean {
  return "error" in outcome && outcome.error instanceof GatewayError && outcome.error.options.cutOff === true;
}

function mayAsk(run: Run, error: unknown, elsewhere: boolean): boolean {
  if (run.answer.shown || run.signal.aborted || !(error instanceof GatewayError)) return false;
  const status = error.options.upstream?.status ?? 0;
  if (error.options.cutOff) return false;
  return (
    error.options.transient === true || status >= 500 || PASSING.has(status) || (elsewhere && status === 429)
  );
}

function replyContext(run: Run): ReplyContext {
  return {
    answer: run.answer,
    owner: (name) => run.offer.owner(name),
    keep: run.offer.gateway.size > 0,
    maxArgumentLength: MAX_ARGUMENT_LENGTH,
    nextCallId: (wireId) => run.nextCallId(wireId),
    onCall: (name) => run.callBegun(name),
    onArgument: (call, ...of) => run.argumentReady(call, ...of),
    stop: (calls) => run.hopeless.stop(calls.some(({ name }) => run.offer.owner(name) === "client")),
  };
}
