import { JsonParser } from "../../../json/parser.ts";
import type { JsonObject } from "../../../json/value.ts";
import { isObject } from "../../adapter.ts";
import { withoutTurnMarkup } from "../../turn-markup.ts";
import type { ChatMessage, WireToolCall } from "../../wire.ts";
import type { PromptFormat, ResultParts } from "./format.ts";
import { type InstructionOptions, instruction } from "./instruction.ts";

/** A conversation with calls, and the tools it may go on with. */
export interface ToolPromptInput extends InstructionOptions {
  messages: readonly ChatMessage[];
}

/** Names that tools may have; a name in a client's history may be anything. */
const NAME_BREAKERS = /[^a-zA-Z0-9_-]/gu;
/** Under these an assistant message carries what the model thought. */
const THOUGHT_MEMBERS = ["reasoning_content", "reasoning"];

/**
 * Writes the tools and a conversation's calls into its messages, for an upstream that knows neither `tools` nor tool messages.
 *
 * 1. The instruction stands at the end of the first message where that is a system message, else in a new one before all others.
 * 2. An assistant message keeps its text; its calls follow in the format. The results of a turn become one user message, together
 *    with the user's own text where that comes next: many templates demand that user and assistant take turns.
 * 3. A result is a JSON value: the tool's JSON, or its text as a JSON string, without markup of the format or of chat templates. So
 *    nothing in it can end it or begin a turn, and nothing is lost.
 * 4. What looks like the format's markup in the text of a user or an assistant is broken by a space. System messages are left alone.
 * 5. Arguments of an earlier call that are no JSON object are written as `{"arguments": TEXT}`.
 */
export function writeToolPrompt(input: ToolPromptInput, format: PromptFormat): ChatMessage[] {
  const writer = new PromptWriter(format);
  const messages = format.oneCall ? input.messages.flatMap(oneByOne) : input.messages;
  for (const message of messages) writer.add(message);
  return withInstruction(writer.finish(), instruction(input, format));
}

/** Whether a message can only be read by an upstream that supports tools. */
export function needsTools(message: ChatMessage): boolean {
  return message.role === "tool" || (message.tool_calls?.length ?? 0) > 0;
}

class PromptWriter {
  readonly #format: PromptFormat;
  readonly #out: ChatMessage[] = [];
  /** Open calls by their id. */
  readonly #calls = new Map<string, Omit<ResultParts, "content">>();
  #results: string[] = [];
  #count = 0;

  constructor(format: PromptFormat) {
    this.#format = format;
  }

  add(message: ChatMessage): void {
    if (message.role === "tool") {
      this.#results.push(this.#result(message));
      return;
    }
    const results = this.#takeResults();
    if (message.role === "user") this.#out.push(this.#userMessage(message, results));
    else {
      if (results !== undefined) this.#out.push({ role: "user", content: results });
      this.#out.push(message.role === "assistant" ? this.#assistantMessage(message) : message);
    }
  }

  finish(): ChatMessage[] {
    const results = this.#takeResults();
    if (results !== undefined) this.#out.push({ role: "user", content: results });
    return this.#out;
  }

  #takeResults(): string | undefined {
    if (this.#results.length === 0) return undefined;
    const { open, between, close } = this.#format.results;
    const text = `${open}${this.#results.join(between)}${close}`;
    this.#results = [];
    return text;
  }

  #userMessage(message: ChatMessage, results: string | undefined): ChatMessage {
    const content = this.#neutral(message.content);
    if (results === undefined) return { ...message, content };
    if (Array.isArray(content)) return { ...message, content: [{ type: "text", text: results }, ...content] };
    return { ...message, content: `${results}\n\n${String(content ?? "")}` };
  }

  #assistantMessage(message: ChatMessage): ChatMessage {
    const { tool_calls, ...rest } = message;
    const thought = this.#format.thought ? this.#takeThought(rest) : undefined;
    if (!tool_calls?.length) return { ...rest, content: this.#neutral(rest.content) };
    const text = this.#format.text.neutral(textOf(rest.content)).trimEnd();
    const calls = this.#callsText(tool_calls, thought);
    return {
      ...rest,
      content: text === "" ? calls : `${text}\n${calls}`,
    };
  }

  /** The thought has its place in the text, so that its member, which the upstream never wrote, does not go there too. */
  #takeThought(message: ChatMessage): string | undefined {
    const texts = THOUGHT_MEMBERS.map((member) => message[member]);
    for (const member of THOUGHT_MEMBERS) delete message[member];
    const thought = texts.find((text) => typeof text === "string" && text.trim() !== "");
    return thought === undefined ? undefined : this.#format.text.neutral(String(thought).trim());
  }

  #callsText(calls: readonly WireToolCall[], thought: string | undefined): string {
    const { open, between, close } = this.#format.calls;
    const texts = calls.map((call, place) => {
      const { name, args } = readCall(call);
      const parts = { name, id: String(call.id ?? ""), index: this.#count++, place };
      this.#calls.set(parts.id, parts);
      return this.#format.call({
        ...parts,
        args: this.#format.spell(args, this.#format.json),
        thought: place === 0 ? thought : undefined,
      });
    });
    return `${open}${texts.join(between)}${close}`;
  }

  #result(message: ChatMessage): string {
    const id = String(message.tool_call_id ?? "");
    const call = this.#calls.get(id) ?? { name: "unknown", id, index: 0, place: 0 };
    const content = withoutTurnMarkup(this.#format.json.inJson(asJson(textOf(message.content))));
    return this.#format.result({ ...call, content });
  }

  #neutral(content: unknown): unknown {
    const { text } = this.#format;
    if (typeof content === "string") return text.neutral(content);
    if (!Array.isArray(content)) return content;
    return content.map((part: unknown) =>
      isObject(part) && typeof part["text"] === "string"
        ? { ...part, text: text.neutral(part["text"]) }
        : part,
    );
  }
}

/** A message with several calls, and its results, as so many turns. */
function oneByOne(message: ChatMessage, at: number, all: readonly ChatMessage[]): readonly ChatMessage[] {
  const calls = message.tool_calls ?? [];
  if (message.role === "tool") return answersOneOfMany(at, all) ? [] : [message];
  if (calls.length < 2) return [message];
  const results = new Map(answers(at, all).map((answer) => [answer.tool_call_id, answer]));
  return calls.flatMap((call, place) => {
    const said = place === 0 ? message : { role: "assistant", content: null };
    const result = results.get(String(call.id));
    return [{ ...said, tool_calls: [call] }, ...(result ? [result] : [])];
  });
}

function answers(at: number, all: readonly ChatMessage[]): readonly ChatMessage[] {
  const end = all.findIndex((message, index) => index > at && message.role !== "tool");
  return all.slice(at + 1, end < 0 ? all.length : end);
}

function answersOneOfMany(at: number, all: readonly ChatMessage[]): boolean {
  const asked = all.findLastIndex((message, index) => index < at && message.role !== "tool");
  return (all[asked]?.tool_calls?.length ?? 0) > 1;
}

function withInstruction(messages: readonly ChatMessage[], text: string): ChatMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system" && first?.role !== "developer") {
    return [{ role: "system", content: text }, ...messages];
  }
  const { content } = first;
  const whole = Array.isArray(content)
    ? [...content, { type: "text", text }]
    : [content, text].filter((part) => part !== "" && part !== null && part !== undefined).join("\n\n");
  return [{ ...first, content: whole }, ...rest];
}

function readCall(call: WireToolCall): { name: string; args: JsonObject } {
  const body = (call.custom ?? call.function ?? {}) as Record<string, unknown>;
  const said = body["input"] ?? body["arguments"] ?? "";
  const raw = typeof said === "string" ? said : JSON.stringify(said);
  const name = String(body["name"] ?? "").replace(NAME_BREAKERS, "_") || "unknown";
  return { name, args: raw.trim() === "" ? {} : (parseObject(raw) ?? { arguments: raw }) };
}

function parseObject(text: string): JsonObject | undefined {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  const { status, value } = parser;
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return status === "complete" && isRecord ? value : undefined;
}

/** JSON objects and arrays as they are spelt, any other text as a JSON string. */
function asJson(text: string): string {
  const parser = new JsonParser({ maxLength: text.length });
  if (/^\s*[[{]/u.test(text)) parser.push(text);
  return parser.status === "complete" ? text.trim() : JSON.stringify(text);
}

/** The text of a content, and what else is in it by its kind only. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content
    .map((part: unknown) => {
      if (!isObject(part)) return "";
      const text = part["text"] ?? part["refusal"];
      return typeof text === "string" ? text : `[${String(part["type"])}]`;
    })
    .join("");
}
