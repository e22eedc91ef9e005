import { stringifyJson } from "../../core/json/stringify.ts";
import { isObject } from "../../core/protocol/adapter.ts";
import type { ChatMessage, WireToolCall } from "../../core/protocol/wire.ts";
import { GatewayError } from "../../errors.ts";
import type { ClientCallPiece, PendingApproval } from "../answer/answer.ts";
import type { Caller } from "../offer.ts";
import type { Approvals } from "./approvals.ts";

/** The client's tool through which a person is asked where the client wants to ask itself. */
const CONFIRM = "confirm_tool_call";
const PREFIX = "call_";

/** The call of the client's tool that asks about a call. */
export function confirmationOf({ id, name, arguments: args }: PendingApproval): ClientCallPiece {
  const text = stringifyJson({ tool: name, arguments: args, approval_id: id });
  return { call: { id: PREFIX + id, name: CONFIRM, kind: "function", extra: undefined }, text };
}

/** The approvals that a message asks the client about. */
export function confirmedIn({ role, tool_calls }: ChatMessage): string[] {
  if (role !== "assistant" || !Array.isArray(tool_calls)) return [];
  return tool_calls.flatMap((call) => (isConfirmation(call) ? String(call.id).slice(PREFIX.length) : []));
}

const isConfirmation = ({ id, function: asked }: WireToolCall): boolean =>
  asked?.name === CONFIRM && String(id).startsWith(PREFIX);

/**
 * Takes `{"approved": true}` or `{"approved": false}` in the client's answers as the decision of its key, if that key may decide. Anything else
 * decides nothing, and so does an answer that comes too late or again.
 */
export async function decideByAnswers(
  approvals: Pick<Approvals, "decide">,
  { name, mayApprove = false }: Caller,
  answers: readonly ChatMessage[],
): Promise<void> {
  for (const { tool_call_id, content } of answers) {
    const said = readAnswer(content);
    if (!said) continue;
    const id = String(tool_call_id).slice(PREFIX.length);
    const kind = said.approved ? "approved" : "denied";
    await approvals
      .decide(id, { name, mayDecide: mayApprove }, { kind, reason: said.reason })
      .catch((error: unknown) => {
        if (!(error instanceof GatewayError) || error.code === "store_unavailable") throw error;
      });
  }
}

function readAnswer(content: unknown): { approved: boolean; reason: string | undefined } | undefined {
  const text = Array.isArray(content)
    ? content.map((part) => (isObject(part) ? String(part["text"] ?? "") : "")).join("")
    : String(content);
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value["approved"] !== "boolean") return undefined;
    const { approved, reason } = value as { approved: boolean; reason?: unknown };
    return { approved, reason: typeof reason === "string" ? reason.slice(0, 2_000) : undefined };
  } catch {
    return undefined;
  }
}
