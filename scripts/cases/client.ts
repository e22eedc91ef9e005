import { stringifyJson } from "../../src/core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { isObject, readJson } from "./json.ts";

const TIMEOUT_MS = 15_000;

/** What a client sees of one chat completion. */
export interface Seen {
  status: number;
  /** The error, of the answer or in the stream. */
  error: JsonValue | undefined;
  content: string;
  /** Calls of the client's own tools, with their argument texts. */
  calls: { name: string; text: string }[];
  finish: string | undefined;
}

/** Sends JSON, with every digit of its integers, and reads the answer to its end. */
export async function send(
  method: string,
  url: string,
  body?: JsonValue,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: stringifyJson(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Reads an answer of the chat endpoint, a stream or one JSON text. Throws an `Error` where it is neither. */
export function readAnswer(status: number, text: string): Seen {
  const seen: Seen = { status, error: undefined, content: "", calls: [], finish: undefined };
  if (text.trimStart().startsWith("{")) {
    take(seen, readJson(text) as JsonObject, "message");
    return seen;
  }
  const events = text.split("\n").filter((line) => line.startsWith("data: "));
  for (const event of events)
    if (event !== "data: [DONE]") take(seen, readJson(event.slice(6)) as JsonObject, "delta");
  return seen;
}

function take(seen: Seen, { error, choices }: JsonObject, member: "delta" | "message"): void {
  if (error !== undefined) seen.error = error;
  const [choice] = Array.isArray(choices) ? choices : [];
  if (!isObject(choice)) return;
  if (typeof choice["finish_reason"] === "string") seen.finish ??= choice["finish_reason"];
  const said = choice[member];
  if (!isObject(said)) return;
  if (typeof said["content"] === "string") seen.content += said["content"];
  const calls = Array.isArray(said["tool_calls"]) ? said["tool_calls"] : [];
  for (const [place, call] of calls.entries()) takeCall(seen, call, place);
}

function takeCall(seen: Seen, call: JsonValue, place: number): void {
  if (!isObject(call) || !isObject(call["function"])) return;
  const { name, arguments: text } = call["function"];
  const at = typeof call["index"] === "number" ? call["index"] : place;
  const known = seen.calls[at] ?? { name: "", text: "" };
  seen.calls[at] = known;
  if (typeof name === "string") known.name += name;
  if (typeof text === "string") known.text += text;
}
