import { withoutTurnMarkup } from "../../core/protocol/turn-markup.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import type { Run } from "../run-state.ts";
import type { Locale } from "./result-text.ts";
import { isReference } from "./stored-results.ts";

/** A conversation in which old results may be left out. */
export interface FittedHistory {
  messages: readonly ChatMessage[];
  /** Results that were left out. */
  results: number;
  /** Bytes of text that are in `messages`, and that were left out. */
  bytes: number;
  saved: number;
}

/** Shorter results stay: the note in their place would not be much shorter. */
const MIN_BYTES = 512;
/** To this part of the budget a conversation is shortened, so that the next turns change nothing in what was before. */
const REST = 3 / 4;
/** For role, id and punctuation of a message or a call. */
const AROUND_BYTES = 64;

/**
 * Leaves the oldest results out of a conversation whose text has more than `maxBytes`.
 *
 * 1. In place of a result there is a note: the tool, the size, whether it succeeded, and the reference if it was stored. Calls, ids and
 *    everything that users, models and instructions said stay as they are, and so do the results of the last turn.
 * 2. What is left out depends on the messages before only: it is found by going through the conversation as it grew. So a longer one begins
 *    like the shorter one did, and a model server finds it in its prompt cache, until the budget is passed the next time.
 */
export function fitMessages(
  messages: readonly ChatMessage[],
  maxBytes: number,
  locale: Locale,
): FittedHistory {
  const fitted = [...messages];
  const names = new Map<unknown, string>();
  const waiting: number[] = [];
  let turn: number[] = [];
  const left = { results: 0, bytes: 0, saved: 0 };
  for (const [at, message] of messages.entries()) {
    left.bytes += bytesOf(message);
    if (message.role === "tool") turn.push(at);
    if (message.tool_calls?.length) {
      waiting.push(...turn);
      turn = [];
      for (const call of message.tool_calls) names.set(call.id, String(call.function?.name ?? ""));
    }
    if (left.bytes > maxBytes) leaveOut(maxBytes * REST);
  }
  return { messages: fitted, ...left };

  function leaveOut(target: number): void {
    while (left.bytes > target) {
      const at = waiting.shift();
      if (at === undefined) return;
      const message = messages[at] as ChatMessage;
      const before = bytesOf(message);
      if (before < MIN_BYTES) continue;
      const note = noteFor(message, names.get(message.tool_call_id) ?? "", before - AROUND_BYTES, locale);
      fitted[at] = note;
      const saved = before - bytesOf(note);
      left.results++;
      left.bytes -= saved;
      left.saved += saved;
    }
  }
}

/** Text only: pictures and sound in a message say nothing about its length for a model. */
function bytesOf({ content, tool_calls }: ChatMessage): number {
  const said = AROUND_BYTES + textsOf(content).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return (tool_calls ?? []).reduce(
    (sum, call) => sum + AROUND_BYTES + Buffer.byteLength(String(call.function?.arguments ?? "")),
    said,
  );
}

/** The texts of a message's content. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    const text = typeof part === "object" && part !== null && "text" in part ? part.text : undefined;
    return typeof text === "string" ? [text] : [];
  });
}

const LEFT_OUT = {
  en: (bytes: number) =>
    `This earlier result (${bytes} bytes) was left out to keep the conversation short. Call the tool again if you need it and it only reads.`,
  zh: (bytes: number) =>
    `为缩短对话，已省略这个较早的结果（${bytes} 字节）。如仍需要且该工具只读取数据，请重新调用。`,
};

function noteFor(message: ChatMessage, name: string, bytes: number, locale: Locale): ChatMessage {
  const { success, reference } = envelopeOf(textsOf(message.content).join(""));
  const content = JSON.stringify({
    tool_call_id: message.tool_call_id,
    tool_name: name,
    ...(success !== undefined && { success }),
    data: reference === undefined ? null : { reference },
    ...(success === false && { error: "left out" }),
    note: LEFT_OUT[locale](bytes),
  });
  return { ...message, content: withoutTurnMarkup(content) };
}

/** What is known of a result of the gateway; nothing of one that a client wrote. */
function envelopeOf(content: string): { success?: boolean; reference?: string } {
  try {
    const { success, data } = JSON.parse(content) ?? {};
    return {
      ...(typeof success === "boolean" && { success }),
      ...(isReference(data?.reference) && { reference: data.reference }),
    };
  } catch {
    return {};
  }
}

/** The messages of a run that its client did not send. */
export function addedMessages({ messages, request }: Run): readonly ChatMessage[] {
  if (messages === request.messages) return [];
  const sent = new Set(request.messages);
  return messages.filter((message) => !sent.has(message));
}

/** Keeps the conversation of a run within its budget; `added` are the messages that came in since the last time. */
export function fitHistory(run: Run, added: readonly ChatMessage[]): void {
  const { historyBytes: max } = run.deps;
  run.conversationBytes += added.reduce((sum, message) => sum + bytesOf(message), 0);
  if (max === 0 || run.conversationBytes <= max) return;
  const { messages, results, bytes, saved } = fitMessages(run.messages, max, run.locale);
  run.conversationBytes = bytes;
  if (results === 0) return;
  run.messages = [...messages];
  const before = run.record.history ?? { results: 0, bytes: 0 };
  run.record.history = { results: before.results + results, bytes: before.bytes + saved };
  run.scope.shortened(results);
}
