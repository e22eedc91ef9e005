import { isObject } from "../core/protocol/adapter.ts";
import type { ChatMessage, ChatRequest } from "../core/protocol/wire.ts";
import { GatewayError } from "../errors.ts";

const ROLES = new Set(["system", "developer", "user", "assistant", "tool", "function"]);
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Members with which other gateways let a client choose where its request, and the provider's key, goes. */
const OVERRIDES = ["base_url", "api_base", "api_key", "extra_headers", "custom_llm_provider", "fallbacks"];
const BOUNDS = {
  messages: 2_048,
  tools: 128,
  stop: 16,
  metadata: 16,
  logitBias: 4_096,
  n: 128,
  modelLength: 256,
};

/**
 * Checks what the gateway relies on in a request of `POST /v1/chat/completions`, and leaves the rest to the upstream. Throws
 * 400 with the member at fault in `param`. Every tool message must answer a call of the assistant message before it, and every
 * such call must be answered, as the OpenAI API demands.
 */
export function checkChatRequest(body: Record<string, unknown>): ChatRequest {
  for (const member of OVERRIDES) {
    if (member in body)
      throw new GatewayError(
        "unsupported_parameter",
        `"${member}" is not accepted: the gateway's operator chooses the upstream.`,
        { param: member },
      );
  }
  checkModel(body["model"]);
  checkMessages(body["messages"]);
  checkTools(body["tools"]);
  checkScalars(body);
  return body as unknown as ChatRequest;
}

function fail(
  code: "missing_required_parameter" | "invalid_type" | "invalid_value",
  param: string,
  message: string,
): never {
  throw new GatewayError(code, message, { param });
}

function checkModel(model: unknown): void {
  if (model === undefined) fail("missing_required_parameter", "model", `"model" is missing.`);
  if (typeof model !== "string") fail("invalid_type", "model", `"model" must be a string.`);
  const plain =
    model !== "" &&
    model.length <= BOUNDS.modelLength &&
    !hasControlCharacter(model) &&
    !model.split("/").includes("..");
  if (!plain)
    fail(
      "invalid_value",
      "model",
      `"model" must be a name of 1 to ${BOUNDS.modelLength} printable characters.`,
    );
}

/** From U+0000 to U+001F, and U+007F. */
function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

function checkMessages(messages: unknown): void {
  if (messages === undefined) fail("missing_required_parameter", "messages", `"messages" is missing.`);
  if (!Array.isArray(messages)) fail("invalid_type", "messages", `"messages" must be an array.`);
  if (messages.length === 0) fail("invalid_value", "messages", `"messages" must hold at least one message.`);
  if (messages.length > BOUNDS.messages) {
    fail(
      "invalid_value",
      "messages",
      `"messages" holds ${messages.length} messages; at most ${BOUNDS.messages} are accepted.`,
    );
  }
  messages.forEach(checkMessage);
  checkTurns(messages as ChatMessage[]);
}

function checkMessage(message: unknown, index: number): void {
  const at = `messages[${index}]`;
  if (!isObject(message)) fail("invalid_type", at, `"${at}" must be an object.`);
  const { role, content } = message;
  if (typeof role !== "string") fail("invalid_type", `${at}.role`, `"${at}.role" must be a string.`);
  if (!ROLES.has(role))
    fail("invalid_value", `${at}.role`, `"${at}.role" must be one of ${[...ROLES].join(", ")}.`);
  const readable =
    content === null || content === undefined || typeof content === "string" || Array.isArray(content);
  if (!readable)
    fail("invalid_type", `${at}.content`, `"${at}.content" must be a string or an array of parts.`);
  const calls = message["tool_calls"];
  if (calls !== undefined && calls !== null && !(Array.isArray(calls) && calls.every(isObject))) {
    fail("invalid_type", `${at}.tool_calls`, `"${at}.tool_calls" must be an array of objects.`);
  }
}

/** A tool message that answers nothing, and a call that nothing answers, make every upstream refuse the whole history. */
function checkTurns(messages: readonly ChatMessage[]): void {
  let open = new Map<string, string>();
  messages.forEach((message, index) => {
    const at = `messages[${index}]`;
    if (message.role === "tool") answer(message, at, open);
    else {
      refuseOpen(open);
      open = new Map(
        (message.tool_calls ?? []).map((call, place) => [String(call.id), `${at}.tool_calls[${place}]`]),
      );
    }
  });
  refuseOpen(open);
}

function answer(message: ChatMessage, at: string, open: Map<string, string>): void {
  const id = message.tool_call_id;
  if (typeof id !== "string")
    fail(
      "missing_required_parameter",
      `${at}.tool_call_id`,
      `"${at}.tool_call_id" is missing: a tool message must name the call it answers.`,
    );
  if (!open.delete(id)) {
    fail(
      "invalid_value",
      `${at}.tool_call_id`,
      `"${at}" answers the call "${id.slice(0, 64)}", but the assistant message before it has no such open call.`,
    );
  }
}

function refuseOpen(open: ReadonlyMap<string, string>): void {
  for (const [id, at] of open) {
    fail(
      "invalid_value",
      at,
      `The call "${id.slice(0, 64)}" at "${at}" is not answered by a tool message right after it.`,
    );
  }
}

function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) fail("invalid_type", "tools", `"tools" must be an array.`);
  if (tools.length > BOUNDS.tools)
    fail(
      "invalid_value",
      "tools",
      `"tools" holds ${tools.length} tools; at most ${BOUNDS.tools} are accepted.`,
    );
  tools.forEach((tool: unknown, index) => {
    const at = `tools[${index}]`;
    if (!isObject(tool)) fail("invalid_type", at, `"${at}" must be an object.`);
    if (tool["type"] !== "function") return;
    const declared = tool["function"];
    if (!isObject(declared))
      fail("missing_required_parameter", `${at}.function`, `"${at}.function" is missing.`);
    const { name } = declared;
    if (typeof name !== "string" || !TOOL_NAME.test(name)) {
      fail(
        "invalid_value",
        `${at}.function.name`,
        `"${at}.function.name" must be 1 to 64 letters, digits, "_" or "-".`,
      );
    }
  });
}

type Check = readonly [member: string, fits: (value: unknown) => boolean, expected: string];

const isWhole = (value: unknown, min: number, max: number) =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;

const CHECKS: readonly Check[] = [
  ["stream", (value) => typeof value === "boolean", "a boolean"],
  ["stream_options", isObject, "an object"],
  ["n", (value) => isWhole(value, 1, BOUNDS.n), `a whole number from 1 to ${BOUNDS.n}`],
  ["max_tokens", (value) => isWhole(value, 1, 2 ** 31), "a positive whole number"],
  ["max_completion_tokens", (value) => isWhole(value, 1, 2 ** 31), "a positive whole number"],
  ["temperature", (value) => typeof value === "number", "a number"],
  ["top_p", (value) => typeof value === "number", "a number"],
  ["user", (value) => typeof value === "string", "a string"],
  ["parallel_tool_calls", (value) => typeof value === "boolean", "a boolean"],
  [
    "stop",
    (value) => typeof value === "string" || (Array.isArray(value) && value.length <= BOUNDS.stop),
    `a string or an array of at most ${BOUNDS.stop} strings`,
  ],
  [
    "metadata",
    (value) => isObject(value) && Object.keys(value).length <= BOUNDS.metadata,
    `an object of at most ${BOUNDS.metadata} pairs`,
  ],
  [
    "logit_bias",
    (value) => isObject(value) && Object.keys(value).length <= BOUNDS.logitBias,
    `an object of at most ${BOUNDS.logitBias} tokens`,
  ],
];

function checkScalars(body: Record<string, unknown>): void {
  for (const [member, fits, expected] of CHECKS) {
    const value = body[member];
    if (value === undefined || value === null || fits(value)) continue;
    fail("invalid_value", member, `"${member}" must be ${expected}.`);
  }
}
