import { hash } from "node:crypto";
import { isObject } from "../../core/protocol/adapter.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import { conversation, type TurnOwner } from "../kept-turns.ts";
import type { Caller } from "../offer.ts";
import type { DocumentStore } from "../ports/stores.ts";
import type { Approvals } from "./approvals.ts";
import { confirmedIn, decideByAnswers } from "./confirm.ts";
import { isOpen, toldNow } from "./told.ts";

/** How long the turn is put back into its conversation after the time to decide is over. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** A run that has ended because calls in it wait for a person. */
export interface ParkedRun {
  caller: string;
  sessionId: string;
  isSessionNamed: boolean;
  /** Whose conversation it is and what the client had said last, as a hash. */
  conversation: string;
  /** What the gateway's rounds before the turn added. */
  before: readonly ChatMessage[];
  /** The message with the calls. */
  assistant: ChatMessage;
  /** A tool message for each call, in order; those of calls that wait name their approvals. */
  results: readonly ChatMessage[];
  approvals: readonly string[];
  /** The body of the request as it came. */
  request: string;
  /** `x-toolweir-tools` of the request. */
  toolsHeader: string | undefined;
}

/** Keeps a parked run under its id. */
export async function keepParked(
  documents: DocumentStore,
  runId: string,
  parked: ParkedRun,
  ttlMs: number,
): Promise<void> {
  await documents.put("parked_run", runId, parked, { ttlMs: ttlMs + KEPT_MS });
}

/** Keeps which run of a session was parked last. */
export async function keepLatest(
  documents: DocumentStore,
  { caller, sessionId }: ParkedRun,
  runId: string,
  ttlMs: number,
): Promise<void> {
  await documents.put("parked_run", latestKey(caller, sessionId), runId, { ttlMs: ttlMs + KEPT_MS });
}

/**
 * The run of a session that was parked last, once everything in it is decided; it is given once. A client that keeps its history by itself, without
 * the gateway's text, goes on with it.
 */
export async function takeLatest(
  { documents, approvals, caller }: ParkedDeps,
  sessionId: string,
  fits: (parked: ParkedRun) => boolean,
): Promise<ParkedRun | undefined> {
  const key = latestKey(caller.name, sessionId);
  const latest = await documents.get("parked_run", key);
  if (typeof latest?.value !== "string") return undefined;
  const parked = await findParked(documents, latest.value, caller.name);
  if (!parked || !fits(parked)) return undefined;
  const entries = await Promise.all(parked.approvals.map((id) => approvals.get(id)));
  if (entries.some((entry) => entry?.state === "awaiting_approval")) return undefined;
  return (await documents.delete("parked_run", key, latest.revision)) ? parked : undefined;
}

const latestKey = (caller: string, sessionId: string): string =>
  hash("sha256", JSON.stringify(["latest", caller, sessionId]));

/** The parked run of this caller; `undefined` if there is none. */
export async function findParked(
  documents: DocumentStore,
  runId: string,
  caller: string,
): Promise<ParkedRun | undefined> {
  const parked = (await documents.get("parked_run", runId))?.value as ParkedRun | undefined;
  return parked?.caller === caller ? parked : undefined;
}

/** What is needed to put parked turns back. */
export interface ParkedDeps {
  documents: DocumentStore;
  approvals: Pick<Approvals, "get" | "until" | "decide">;
  caller: Caller;
  locale: "en" | "zh";
  /** How long to wait for calls that are being carried out. */
  waitMs: number;
  signal: AbortSignal;
}

/** The model's messages in a parked turn, with what is known of its calls now. */
export async function wholeParked(deps: ParkedDeps, parked: ParkedRun): Promise<ChatMessage[]> {
  const { approvals, locale, waitMs, signal } = deps;
  await approvals.until(parked.approvals, ({ state }) => !isOpen(state), waitMs, signal);
  const results = await Promise.all(
    parked.results.map((message) => toldNow({ ledger: approvals, locale }, message)),
  );
  return [...parked.before, parked.assistant, ...results];
}

const APPROVAL_ID = /\bapr_[0-9a-f]{32}\b/g;

/** Whether a message may be what the gateway said at the end of a parked run. */
export function mentionsApproval({ role, content }: ChatMessage): boolean {
  return role === "assistant" && idsIn(content).length > 0;
}

function idsIn(content: unknown): string[] {
  const texts = Array.isArray(content)
    ? content.map((part) => (isObject(part) ? part["text"] : undefined))
    : [content];
  return texts.flatMap((text) =>
    typeof text === "string" && text.includes("apr_") ? (text.match(APPROVAL_ID) ?? []) : [],
  );
}

/**
 * The model's own messages and what became of its calls, for what the gateway said when it parked a run; `undefined` for any other message.
 * The approval in that text only says where to look: a turn is found by the caller it was kept for, behind the message that it was the answer
 * to. It decides nothing.
 */
export async function parkedTurn(
  deps: ParkedDeps,
  owner: TurnOwner,
  message: ChatMessage,
  asked: ChatMessage | undefined,
  answers: readonly ChatMessage[],
): Promise<ChatMessage[] | undefined> {
  const confirmed = confirmedIn(message);
  for (const id of new Set([...idsIn(message.content), ...confirmed])) {
    const entry = await deps.approvals.get(id);
    if (entry?.caller !== owner.caller) continue;
    const parked = await findParked(deps.documents, entry.runId, owner.caller);
    if (parked?.conversation !== conversation(owner, asked)) continue;
    const askedAbout = new Set(parked.approvals.map((one) => `call_${one}`));
    const mine = answers.filter(({ tool_call_id }) => askedAbout.has(String(tool_call_id)));
    if (confirmed.length > 0) await decideByAnswers(deps.approvals, deps.caller, mine);
    return wholeParked(deps, parked);
  }
  return undefined;
}
