import type { ChatMessage } from "../../core/protocol/wire.ts";
import type { PendingApproval } from "../answer/answer.ts";
import type { LedgerEntry, LedgerState, LedgerStore } from "../ports/ledger.ts";
import { refusalMessage, withNote } from "../results/results.ts";
import { argumentsOf } from "./described.ts";
import { APPROVAL_TEXTS } from "./texts.ts";

type Locale = "en" | "zh";

/** A tool message about a call that waits for a person names its approval; the model does not get to see that member. */
const MARK = "approval_id";

/** The states of a call that nothing more becomes of by itself. */
export const isSettled = ({ state }: LedgerEntry): boolean => !isOpen(state) && state !== "awaiting_approval";

/** A call that was approved and is not at its end. */
export const isOpen = (state: LedgerState): boolean => state === "approved" || state === "executing";

/** The content of the tool message about a call, as things stand. */
export function contentOf(entry: LedgerEntry, locale: Locale): string {
  const { state, result, reason = "", askedArguments } = entry;
  const call = { id: entry.callId, name: entry.tool };
  const content =
    result ?? refusalMessage(call, state, APPROVAL_TEXTS[locale].told[state](ended(reason))).content;
  if (askedArguments === undefined || entry.decision !== "approved") return content;
  return withNote(content, APPROVAL_TEXTS[locale].edited(entry.arguments));
}

/** A text of people as the end of a sentence. */
function ended(text: string): string {
  const line = text.trim();
  return line === "" || /[.!?。！？…]$/u.test(line) ? line : `${line}.`;
}

/** A message about a call that waits, to be kept. */
export function markPending(message: ChatMessage, id: string): ChatMessage {
  return { ...message, [MARK]: id };
}

/** A kept message as things stand: one about a call that waited says what became of it. */
export async function toldNow(
  { ledger, locale }: { ledger: Pick<LedgerStore, "get">; locale: Locale },
  message: ChatMessage,
): Promise<ChatMessage> {
  const { [MARK]: id, ...plain } = message;
  if (typeof id !== "string") return message;
  const entry = await ledger.get(id);
  return { ...plain, content: entry ? contentOf(entry, locale) : forgotten(plain, locale) };
}

function forgotten({ tool_call_id, content }: ChatMessage, locale: Locale): string {
  const { tool_name } = JSON.parse(String(content)) as { tool_name?: unknown };
  const call = { id: String(tool_call_id), name: String(tool_name) };
  return refusalMessage(call, "forgotten", APPROVAL_TEXTS[locale].forgotten).content;
}

/** A call that waits, as the client is told of it. */
export function pendingOf(entry: LedgerEntry): PendingApproval {
  return {
    id: entry.id,
    name: entry.tool,
    arguments: argumentsOf(entry),
    expires_at: new Date(entry.expiresAt).toISOString(),
  };
}
