import type { ToolDefinition } from "../../core/tool.ts";
import type { ToolFailure, ToolReply } from "../ports/tools.ts";

/** What one request to a tool brought. */
interface Answer {
  reply?: ToolReply | undefined;
  failure?: ToolFailure | undefined;
}

/** Times that a call whose key the tool knows is sent at most. */
export const MAX_SENDS = 3;

/** Answers below 500 that say nothing about whether the call was carried out. */
const NOT_SAID = new Set([408, 409, 425, 429]);
const MAY_HAVE_ACTED = new Set<ToolFailure["kind"] | undefined>(["timeout", "interrupted", "cancelled"]);

/**
 * Whether a call that did not succeed may have changed something all the same: it was sent, and neither a plain refusal (4xx) nor a status
 * in `errors_mean_not_done` came back.
 */
export function mayHaveActed(
  { level, errors_mean_not_done }: ToolDefinition,
  { reply, failure }: Answer,
): boolean {
  if (level === "read") return false;
  if (!reply) return MAY_HAVE_ACTED.has(failure?.kind);
  const { status } = reply;
  if ((status >= 200 && status < 300) || errors_mean_not_done?.includes(status)) return false;
  return status < 400 || status >= 500 || NOT_SAID.has(status);
}

/**
 * Whether a call of a tool that changes something may be sent again after a transient failure: nothing was handed to the connection
 * yet, or the tool still knows the key that the call carries. `sends` counts the requests, `elapsedMs` since the first of them.
 */
export function mayResend(
  { idempotency }: ToolDefinition,
  { failure }: Answer,
  { sends, elapsedMs }: { sends: number; elapsedMs: number },
): boolean {
  if (failure?.kind === "unreachable") return true;
  return idempotency !== undefined && sends < MAX_SENDS && elapsedMs < idempotency.ttl_s * 1000;
}
