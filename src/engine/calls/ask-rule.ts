import type { JsonObject } from "../../core/json/value.ts";
import type { RuleFacts } from "../../core/rules/tool-rules.ts";
import type { RemoteRule, ToolDefinition } from "../../core/tool.ts";
import type { RemoteAnswer } from "../gates/gate.ts";
import { type ToolAttempt, ToolFailure, type ToolReply, type ToolTransport } from "../ports/tools.ts";

const TIMEOUT_MS = 2_000;

/** A call that a service is asked about. */
export interface Question {
  readonly tool: ToolDefinition;
  readonly args: JsonObject;
  readonly facts: RuleFacts;
}

/**
 * Asks the service of a rule whether a call may run: one POST of `{tool, arguments, session, caller}`, never repeated, under the
 * network policy of tools. The answer is `{"ok": true}` or `{"ok": false, "message"}` with status 2xx; anything else, and no
 * answer in time, is none.
 */
export async function askRule(
  transport: ToolTransport,
  rule: RemoteRule,
  { tool, args, facts }: Question,
  attempt: ToolAttempt,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  const { url, headers = {}, timeout_ms = TIMEOUT_MS } = rule;
  const http = { method: "POST", url, query: {}, headers, body: "json" } as const;
  const body = {
    tool: tool.name,
    arguments: args,
    session: { id: facts.sessionId },
    caller: { name: facts.caller.name, level: facts.caller.level },
  };
  try {
    // A server that is asked first must not take the call of the tool for a repetition.
    const own = { ...attempt, idempotencyKey: `${attempt.idempotencyKey}:${url}` };
    // The service is a tool for the transport: one that only reads.
    return read(await transport.send({ ...tool, http, level: "read", timeout_ms }, body, own, signal));
  } catch (error) {
    if (error instanceof ToolFailure || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function read({ status, body, truncated }: ToolReply): RemoteAnswer {
  if (status < 200 || status > 299 || truncated) return undefined;
  const answer: unknown = JSON.parse(body.toString("utf8"));
  if (typeof answer !== "object" || answer === null || !("ok" in answer)) return undefined;
  if (answer.ok === true) return { ok: true };
  if (answer.ok !== false) return undefined;
  return { ok: false, message: "message" in answer ? answer.message : undefined };
}
