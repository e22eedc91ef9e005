import type { ChatMessage } from "../core/protocol/wire.ts";
import { confirmedIn } from "./approvals/confirm.ts";
import { mentionsApproval, type ParkedRun, parkedTurn, wholeParked } from "./approvals/parked.ts";
import { toldNow } from "./approvals/told.ts";
import { restoreTurns } from "./kept-turns.ts";
import type { Run } from "./run-state.ts";

/**
 * The conversation of a run as the model had it: its own messages in place of what the client saw of them, and behind them the turn that is
 * gone on with. The client's own array where there is nothing to put in.
 */
export async function wholeConversation(run: Run, resumed: ParkedRun | undefined): Promise<ChatMessage[]> {
  const restored = await withTurns(run);
  return resumed ? [...restored, ...(await wholeParked(parkedDeps(run), resumed))] : restored;
}

async function withTurns(run: Run): Promise<ChatMessage[]> {
  const { owner, messages, deps } = run;
  if (!messages.some((message) => hasCalls(message) || mentionsApproval(message))) return messages;
  const { stores, approvals, now, locale } = deps;
  const restored = await restoreTurns(stores.keptTurns, owner, messages, now(), {
    locale,
    told: (message) => toldNow({ ledger: approvals, locale }, message),
    other: async (message, asked, answers) => {
      const isParked = mentionsApproval(message) || confirmedIn(message).length > 0;
      return isParked ? parkedTurn(parkedDeps(run), owner, message, asked, answers) : undefined;
    },
  });
  return restored.some((message, index) => message !== messages[index]) ? restored : messages;
}

function parkedDeps({ deps, signal, caller }: Run) {
  const { stores, approvals, limits, locale } = deps;
  return { documents: stores.documents, approvals, caller, locale, waitMs: limits.tools_phase_ms, signal };
}

const hasCalls = ({ role, tool_calls }: ChatMessage) => role === "assistant" && (tool_calls?.length ?? 0) > 0;
