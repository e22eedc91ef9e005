import type { ChatMessage } from "../core/protocol/wire.ts";
import { isUnavailable } from "../errors.ts";
import { confirmedIn } from "./approvals/confirm.ts";
import { mentionsApproval, type ParkedRun, parkedTurn, takeLatest, wholeParked } from "./approvals/parked.ts";
import { toldNow } from "./approvals/told.ts";
import { conversation, restoreTurns } from "./kept-turns.ts";
import type { Run } from "./run-state.ts";

/**
 * The conversation of a run as the model had it: its own messages in place of what the client saw of them, and behind them the turn that is
 * gone on with. The client's own array where there is nothing to put in.
 */
export async function wholeConversation(run: Run, resumed: ParkedRun | undefined): Promise<ChatMessage[]> {
  const restored = await withTurns(run);
  if (resumed) {
    const deps = parkedDeps(run);
    // It is gone on with now, and not once more with the next request of the session.
    await takeLatest(deps, run.sessionId, ({ approvals: [first] }) => first === resumed.approvals[0]);
    return [...restored, ...(await wholeParked(deps, resumed))];
  }
  return restored === run.messages ? withLatest(run) : restored;
}

/** The turn that the session was parked in, behind the message that it answered, where the client's history says nothing of it. */
async function withLatest(run: Run): Promise<ChatMessage[]> {
  const { messages, owner, sessionId } = run;
  if (!run.isSessionNamed || run.tools.names.length === 0) return messages;
  const placeIn = ({ conversation: kept }: ParkedRun) =>
    messages.findLastIndex(
      (message) => message.role !== "assistant" && conversation(owner, message) === kept,
    );
  const deps = parkedDeps(run);
  try {
    const parked = await takeLatest(deps, sessionId, (one) => placeIn(one) >= 0);
    if (!parked) return messages;
    return messages.toSpliced(placeIn(parked) + 1, 0, ...(await wholeParked(deps, parked)));
  } catch (error) {
    // Without the store nothing of it can be known.
    if (isUnavailable(error)) return messages;
    throw error;
  }
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
