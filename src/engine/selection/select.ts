import type { ChatMessage, ChatRequest } from "../../core/protocol/wire.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { ToolIndex } from "./tool-index.ts";

/** Why a tool is offered: it is forced, was used before, is mentioned by name, fits what is talked about, or nothing said more. */
export type SelectionReason = "forced" | "used" | "mentioned" | "ranked" | "fallback";

/** One offered tool in the record of a run. */
export interface SelectedTool {
  name: string;
  reason: SelectionReason;
  /** Of the ranking; tools of one run can be compared by it. */
  score?: number;
}

/** Which tools were chosen, in the order of their names. */
export interface Selection {
  tools: readonly RegisteredTool[];
  why: readonly SelectedTool[];
}

/** What the latest user messages count, the latest first, and what the latest answer of the model counts. */
const USER_WEIGHTS = [1, 0.5, 0.25];
const ASSISTANT_WEIGHT = 0.25;
/** Messages that are looked at from the end. */
const MAX_MESSAGES = 20;
/** A name that people would not write by chance. */
const NAME_LIKE = /[_-]|\p{Ll}\p{Lu}|\d/u;

/**
 * Chooses the tools that fit a conversation, `max` of them at most.
 *
 * 1. A tool that `tool_choice` forces is always there. Then come those that were used in the conversation or the session, the latest
 *    first, as long as half of the places are left for others; then those that the last message names; then the ranking by full text.
 * 2. Where nothing has to do with what is said, the first ones by name fill the places.
 * 3. The same conversation with the same tools gives the same choice, in the order of names, so that prompt caches hold.
 */
export function selectTools(
  request: ChatRequest,
  permitted: readonly RegisteredTool[],
  index: Pick<ToolIndex, "find">,
  { max, used }: { max: number; used: readonly string[] },
): Selection {
  const byName = new Map(permitted.map((tool) => [tool.definition.name, tool]));
  const chosen = new Map<string, SelectedTool>();
  const choose = (name: string, reason: SelectionReason, score?: number): void => {
    // What the client names it expects, however many that are.
    const isFull = chosen.size >= max && reason !== "forced";
    if (isFull || chosen.has(name) || !byName.has(name)) return;
    chosen.set(name, { name, reason, ...(score !== undefined && { score: Math.round(score * 100) / 100 }) });
  };
  const messages = request.messages.slice(-MAX_MESSAGES);
  for (const name of chosenNames(request)) choose(name, "forced");
  const before = [...usedIn(request.messages), ...used].filter((name) => byName.has(name));
  for (const name of [...new Set(before)].slice(0, Math.ceil(max / 2))) choose(name, "used");
  for (const name of namesIn(messages)) choose(name, "mentioned");
  const fitting = ranked(messages, index).filter(([name]) => byName.has(name));
  for (const [name, score] of fitting) choose(name, "ranked", score);
  if (fitting.length === 0) for (const name of byName.keys()) choose(name, "fallback");
  const tools = permitted.filter(({ definition }) => chosen.has(definition.name));
  return { tools, why: tools.map(({ definition }) => chosen.get(definition.name) as SelectedTool) };
}

/** Scores of the texts of a conversation together, the best first, equal ones by name. */
function ranked(messages: readonly ChatMessage[], index: Pick<ToolIndex, "find">): [string, number][] {
  const scores = new Map<string, number>();
  for (const [text, weight] of textsOf(messages)) {
    for (const [name, score] of index.find(text)) scores.set(name, (scores.get(name) ?? 0) + weight * score);
  }
  return [...scores].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
}

/** The latest texts and what they count. */
function textsOf(messages: readonly ChatMessage[]): [string, number][] {
  const latest = messages.toReversed();
  const users = latest.filter(({ role }) => role === "user").slice(0, USER_WEIGHTS.length);
  const answer = latest.find(({ role, content }) => role === "assistant" && textOf(content) !== "");
  return [
    ...users.map(({ content }, at): [string, number] => [textOf(content), USER_WEIGHTS[at] ?? 0]),
    ...(answer ? [[textOf(answer.content), ASSISTANT_WEIGHT] satisfies [string, number]] : []),
  ];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : ""))
    .join(" ");
}

/** Tools called in the conversation, the latest first. */
function usedIn(messages: readonly ChatMessage[]): string[] {
  return messages
    .toReversed()
    .flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => String(call.function?.name)));
}

/** Words of the last user message that look like names. */
function namesIn(messages: readonly ChatMessage[]): string[] {
  const last = messages.findLast(({ role }) => role === "user");
  const words =
    textOf(last?.content)
      .slice(0, 20_000)
      .match(/[A-Za-z0-9_-]{3,64}/g) ?? [];
  return [...new Set(words)].filter((word) => NAME_LIKE.test(word));
}

/** The tools that `tool_choice` names: the one that is forced, or those that are allowed. */
function chosenNames({ tool_choice: choice }: ChatRequest): string[] {
  if (typeof choice !== "object" || choice === null) return [];
  const { function: forced, allowed_tools: allowed } = choice as {
    function?: { name?: unknown };
    allowed_tools?: { tools?: unknown };
  };
  const list: unknown[] = Array.isArray(allowed?.tools) ? allowed.tools : [];
  const names = [forced, ...list.map((one) => (one as { function?: { name?: unknown } } | null)?.function)];
  return names.flatMap((one) => (typeof one?.name === "string" ? one.name : []));
}
