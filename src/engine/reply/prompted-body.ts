import { JsonParser } from "../../core/json/parser.ts";
import { type RawMember, rawMembers, withReplaced } from "../../core/json/raw-object.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { isObject } from "../../core/protocol/adapter.ts";
import type { PromptFormat } from "../../core/protocol/text/prompt/format.ts";
import type { PromptChoice, PromptTool } from "../../core/protocol/text/prompt/instruction.ts";
import { needsTools, writeToolPrompt } from "../../core/protocol/text/prompt/write-prompt.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import { GatewayError } from "../../errors.ts";
import type { Run } from "../run-state.ts";

/** Members that only an upstream with tool support reads. */
const TOOL_MEMBERS = new Set(["tools", "tool_choice", "parallel_tool_calls"]);

/**
 * The body of a run's next request to an upstream without tool support.
 *
 * 1. The tools, the calls so far and their results are written into the messages; `tools`, `tool_choice` and
 *    `parallel_tool_calls` are left out, and said in the instruction.
 * 2. `stop` gets the format's own stop sequences, behind the client's, as long as there are no more than four together.
 * 3. Every other member is as the client spelt it. With no tools and no calls, and none of those members, so is the whole body.
 *
 * `messages` is the conversation, `options` what `stream_options` becomes, `choice` the tool choice of this round. Throws
 * `unsupported_parameter` for a tool that is no function: a prompt cannot say it.
 */
export function promptedBody(
  run: Run,
  { messages, options }: { messages: readonly ChatMessage[]; options: string | undefined },
  format: PromptFormat,
  choice: unknown,
): Buffer | string {
  const { request, raw } = run;
  const members = rawMembers(raw);
  const tools = chosenTools(declaredTools(run, members), choice);
  const callable = tools.length > 0 && choice !== "none";
  const toolsMatter = members.some(({ name }) => TOOL_MEMBERS.has(name)) || messages.some(needsTools);
  const replaced = new Map<string, string>();
  if (options !== undefined) replaced.set("stream_options", options);
  if (!callable && !toolsMatter && messages === request.messages)
    return replaced.size === 0 ? raw : withReplaced(raw, members, replaced);
  const prompt = writeToolPrompt(
    {
      messages,
      tools,
      choice: promptChoice(choice),
      parallel: request.parallel_tool_calls !== false,
      locale: run.locale,
    },
    format,
  );
  replaced.set("messages", JSON.stringify(prompt));
  if (callable && format.stop.length > 0)
    replaced.set("stop", JSON.stringify(stops(request["stop"], format)));
  const others = members.filter(({ name }) => !TOOL_MEMBERS.has(name));
  return withReplaced(raw, others, replaced);
}

/** The client's tools as it spelt them, every digit of their schemas, then the gateway's. */
function declaredTools({ offer, raw, request }: Run, members: readonly RawMember[]): PromptTool[] {
  const own = request.tools?.length ? members.findLast(({ name }) => name === "tools") : undefined;
  const texts = own ? [raw.toString("utf8", own.valueFrom, own.to)] : [];
  const client = texts.flatMap((text) => (parse(text) as JsonValue[]).map(toPromptTool));
  return [...client, ...offer.added.map((text, index) => toPromptTool(parse(text), index))];
}

function toPromptTool(spec: JsonValue, index: number): PromptTool {
  const { type, function: declared } = spec as JsonObject;
  if (type !== "function" || !isObject(declared)) {
    throw new GatewayError(
      "unsupported_parameter",
      `"tools[${index}]" is no function. The model's upstream has no tool support, so only functions can be offered to it.`,
      { param: `tools[${index}].type` },
    );
  }
  const { name, parameters } = declared as JsonObject;
  return { name: String(name), spec: spec as JsonObject, parameters };
}

/** The request was read once, so it is JSON. */
function parse(text: string): JsonValue {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  return parser.value ?? null;
}

/** An allow-list of the client's leaves only those tools. */
function chosenTools(tools: PromptTool[], choice: unknown): PromptTool[] {
  const allowed = allowList(choice);
  if (!allowed) return tools;
  const listed = Array.isArray(allowed["tools"]) ? allowed["tools"].map(functionName) : [];
  return tools.filter(({ name }) => listed.includes(name));
}

function promptChoice(choice: unknown): PromptChoice {
  if (choice === "none" || choice === "required") return choice;
  if (allowList(choice)?.["mode"] === "required") return "required";
  const tool = functionName(choice);
  return tool === undefined ? "auto" : { tool };
}

function allowList(choice: unknown): Record<string, unknown> | undefined {
  if (!isObject(choice) || choice["type"] !== "allowed_tools") return undefined;
  return isObject(choice["allowed_tools"]) ? choice["allowed_tools"] : undefined;
}

function functionName(choice: unknown): string | undefined {
  if (!isObject(choice) || !isObject(choice["function"])) return undefined;
  const { name } = choice["function"];
  return typeof name === "string" ? name : undefined;
}

/** More of them are refused by most servers. */
const MAX_STOPS = 4;

function stops(stop: unknown, format: PromptFormat): unknown[] {
  const own: unknown[] = Array.isArray(stop) ? stop : typeof stop === "string" ? [stop] : [];
  const further = format.stop.filter((text) => !own.includes(text));
  // What follows a call is cut off in any case; the word only saves tokens.
  return own.length + further.length > MAX_STOPS ? own : [...own, ...further];
}
