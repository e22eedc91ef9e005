import { isoTime } from "../iso-time.ts";
import type { LedgerEntry } from "../ports/ledger.ts";
import { readExact } from "./described.ts";

/** Characters that change how a text looks without being seen, in a JSON text. */
const INVISIBLE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A JSON text with everything escaped that people do not see, or that reorders what they see. It says the same. */
export function visibleJson(text: string): string {
  return text.replace(INVISIBLE, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const timeOrNull = (ms: number | undefined) => (ms === undefined ? null : isoTime(ms));

/** An entry as people and programs see it. */
export function approvalView(entry: LedgerEntry) {
  const { id, state, approval, tool, level, result, request } = entry;
  return {
    id,
    object: "approval",
    status: state === "awaiting_approval" ? "pending" : state,
    name: tool,
    level,
    approval,
    arguments: readExact(entry.arguments),
    arguments_sha256: entry.argumentsHash,
    asked_arguments: entry.askedArguments === undefined ? null : readExact(entry.askedArguments),
    request: request === undefined ? null : readExact(request),
    request_sha256: entry.requestHash,
    four_eyes: entry.fourEyes,
    caller: entry.caller,
    user: entry.user ?? null,
    session_id: entry.sessionId,
    run_id: entry.runId,
    call_id: entry.callId,
    created_at: isoTime(entry.createdAt),
    expires_at: isoTime(entry.expiresAt),
    decision: entry.decision ?? null,
    decided_by: entry.decidedBy ?? null,
    decided_at: timeOrNull(entry.decidedAt),
    reason: entry.reason ?? null,
    attempts: entry.attempt,
    result: result === undefined ? null : readExact(result),
    error: entry.error ?? null,
    resolved_by: entry.resolvedBy ?? null,
    note: entry.note ?? null,
  };
}
