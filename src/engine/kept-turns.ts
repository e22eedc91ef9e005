import { canonicalHash } from "../core/json/stringify.ts";
import type { ToolCall } from "../core/protocol/accumulator.ts";
import { isObject } from "../core/protocol/adapter.ts";
import type { ChatMessage } from "../core/protocol/wire.ts";
import type { KeptTurn, KeptTurnStore } from "./ports/stores.ts";
import { refusalMessage } from "./results/results.ts";

/** How long results wait for the client's half. */
const RESULTS_MS = 24 * 60 * 60 * 1000;
/** How long it is remembered after that, that there were results. */
const MEMORY_MS = 7 * RESULTS_MS;

/** Whose conversation a turn belongs to, as far as a request tells. */
export interface TurnOwner {
  /** Name of the caller's key. */
  caller: string;
  /** `user` of the request. */
  user: string | undefined;
}

interface Kept {
  /** What the gateway's rounds before the turn added to the conversation. */
  before: readonly ChatMessage[];
  message: ChatMessage;
  validUntil: number;
}

/** Keeps the gateway's half of a turn in which the client has calls to answer too. `asked` is the client's message before it. */
export async function keepTurn(
  store: KeptTurnStore,
  owner: TurnOwner,
  turn: {
    asked: ChatMessage | undefined;
    before: readonly ChatMessage[];
    assistant: ChatMessage;
    clientCalls: readonly ToolCall[];
    results: readonly ChatMessage[];
  },
  now: number,
): Promise<void> {
  const results = Object.fromEntries(turn.results.map((message) => [String(message.tool_call_id), message]));
  const kept: KeptTurn = {
    clientCallIds: turn.clientCalls.map((call) => call.id),
    assistant: { before: turn.before, message: turn.assistant, validUntil: now + RESULTS_MS } satisfies Kept,
    results,
  };
  await store.keep(conversation(owner, turn.asked), kept, MEMORY_MS);
}

/** How kept turns are put back. */
export interface RestoreOptions {
  locale: "en" | "zh";
  /** Brings a kept result up to date. */
  told(message: ChatMessage): Promise<ChatMessage>;
  /**
   * What stands for a message that is no kept turn, and for the tool messages behind it, if anything does; `asked` is what the client
   * had said before.
   */
  other(
    message: ChatMessage,
    asked: ChatMessage | undefined,
    answers: readonly ChatMessage[],
  ): Promise<readonly ChatMessage[] | undefined>;
}

/**
 * Puts kept turns back into a conversation: what the gateway's rounds before it added, the model's own assistant message with
 * all its calls, the kept results and the client's tool messages in the order of the calls. Results that have expired are
 * replaced by a message that says so; `told` brings others up to date.
 */
export async function restoreTurns(
  store: KeptTurnStore,
  owner: TurnOwner,
  messages: readonly ChatMessage[],
  now: number,
  options: RestoreOptions,
): Promise<ChatMessage[]> {
  const restored: ChatMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as ChatMessage;
    const first = message.role === "assistant" ? message.tool_calls?.[0]?.id : undefined;
    const turn =
      typeof first === "string"
        ? await store.find(conversation(owner, askedBefore(messages, at)), first)
        : undefined;
    const answers = followingToolMessages(messages, at);
    if (!turn) {
      const other = await options.other(message, askedBefore(messages, at), answers);
      restored.push(...(other ?? [message]));
      if (other) at += answers.length;
      continue;
    }
    const results: Record<string, ChatMessage> = {};
    for (const [id, result] of Object.entries(turn.results))
      results[id] = await options.told(result as ChatMessage);
    restored.push(...wholeTurn({ ...turn, results }, answers, now, options.locale));
    at += answers.length;
  }
  return restored;
}

/**
 * Some providers give their calls the same ids in every conversation, so an id alone could bring up another one's results. What
 * the client said before the turn is what it repeats most faithfully: instructions get the time, and histories are cut.
 */
export function conversation({ caller, user }: TurnOwner, asked: ChatMessage | undefined): string {
  const content = asked?.content;
  const said = Array.isArray(content) ? content.map((part) => textOf(part)).join("") : String(content ?? "");
  return `${caller} ${canonicalHash([user ?? "", asked?.role ?? "", said])}`;
}

const textOf = (part: unknown): string => (isObject(part) ? String(part["text"] ?? "") : "");

/** What the client said last before a message of the assistant. */
function askedBefore(messages: readonly ChatMessage[], at: number): ChatMessage | undefined {
  return messages.slice(0, at).findLast(({ role }) => role !== "assistant");
}

/** The tool messages right after an assistant message. */
function followingToolMessages(messages: readonly ChatMessage[], at: number): ChatMessage[] {
  let end = at + 1;
  while (messages[end]?.role === "tool") end++;
  return messages.slice(at + 1, end);
}

function wholeTurn(
  turn: KeptTurn,
  answers: readonly ChatMessage[],
  now: number,
  locale: "en" | "zh",
): ChatMessage[] {
  const { before, message, validUntil } = turn.assistant as Kept;
  const names = new Map(
    [...before, message]
      .flatMap((said) => said.tool_calls ?? [])
      .map((call) => [call.id, call.function?.name]),
  );
  const current = (id: string, mine: ChatMessage | undefined): ChatMessage =>
    mine && now <= validUntil ? mine : expired(id, String(names.get(id) ?? ""), locale);
  const byId = new Map(answers.map((answer) => [answer.tool_call_id, answer]));
  const ordered = (message.tool_calls ?? []).map((call) => {
    const id = String(call.id);
    return byId.get(id) ?? current(id, turn.results[id] as ChatMessage | undefined);
  });
  const earlier = before.map((said) =>
    said.role === "tool" ? current(String(said.tool_call_id), said) : said,
  );
  return [...earlier, message, ...ordered];
}

const EXPIRED = {
  en: "The result of this call has expired and is not known any more. If the call only read something, call it again; if it changed something, do not repeat it.",
  zh: "该调用的结果已过期，无法再取得。如果只是读取，可重新调用；如果修改了数据，请勿重复。",
};

function expired(id: string, name: string, locale: "en" | "zh"): ChatMessage {
  const { role, tool_call_id, content } = refusalMessage({ id, name }, "result_expired", EXPIRED[locale]);
  return { role, tool_call_id, content };
}
