import type { ChatMessage } from "../core/protocol/wire.ts";
import { canBecome } from "../core/schema/schema-shape.ts";
import type { Offer } from "./offer.ts";
import { parameterShape } from "./plan/plan-round.ts";
import type { RegisteredTool } from "./registry/tool-snapshot.ts";

const CHAINING = {
  en: (tool: string, member: string) =>
    `A parameter of a tool call can take a value from another call in the same message: write "{{${tool}.data${member}}}" and make the call of ${tool} earlier in that message.`,
  zh: (tool: string, member: string) =>
    `工具调用的参数可以引用同一条消息中另一个调用的结果：写成“{{${tool}.data${member}}}”，并把对 ${tool} 的调用放在前面。`,
};

const REPETITION = {
  en: "You have made the same tool call again. Its result does not change: use the results that you have, try something else, or answer the user.",
  zh: "你重复了相同的工具调用，结果不会改变。请使用已有结果、换一种做法，或直接回答用户。",
};

/** What a model is told that has repeated itself. */
export const repetitionHint = (locale: "en" | "zh"): string => REPETITION[locale];

/** How to chain calls, if at least two of the offered tools can be: one says what it returns, and another takes some of it. */
export function chainingHint({ gateway }: Offer, locale: "en" | "zh"): string | undefined {
  if (gateway.size < 2) return undefined;
  const tools = [...gateway.values()];
  for (const from of tools) {
    const members = from.output ? membersOf(from) : [];
    const member = members.find((one) => tools.some((to) => to !== from && takes(to, from, one)));
    if (member !== undefined) return CHAINING[locale](from.definition.name, member && `.${member}`);
  }
  return undefined;
}

/** What can be referred to: members of the result, or the result itself where it has none. */
function membersOf({ definition }: RegisteredTool): string[] {
  const members = Object.keys((definition.output?.["properties"] ?? {}) as object);
  return members.length > 0 ? members.filter((name) => !/[\s.[\]{}"]/.test(name)) : [""];
}

function takes(to: RegisteredTool, from: RegisteredTool, member: string): boolean {
  const gives = from.output?.at(member === "" ? [] : [member]);
  if (!gives || "missing" in gives) return false;
  return Object.keys((to.definition.parameters?.["properties"] ?? {}) as object).some((name) => {
    const place = parameterShape(to)?.at([name]);
    return place !== undefined && "types" in place && canBecome(gives.types, place.types);
  });
}

/** The conversation with a text added to its instructions: to the first message if that is one, else in a new one before it. */
export function withInstruction(messages: readonly ChatMessage[], text: string): ChatMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system" && first?.role !== "developer")
    return [{ role: "system", content: text }, ...messages];
  const content = Array.isArray(first.content)
    ? [...first.content, { type: "text", text }]
    : `${String(first.content ?? "")}\n\n${text}`;
  return [{ ...first, content }, ...rest];
}
