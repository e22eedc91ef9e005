import assert from "node:assert/strict";
import type { Gateway } from "./gateway.ts";

/** A call of a client's tool, put together from its deltas. */
export interface SeenCall {
  index: number;
  id: string;
  name: string;
  arguments: string;
}

/** A chunk as the client sees it. */
export interface SeenChunk {
  id: string;
  created: number;
  model: string;
  object: string;
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: Record<string, unknown> | null;
  error?: { message: string; type: string; code: string; param: string | null };
  toolweir?: Record<string, unknown>;
}

/** A streamed answer that was read to its end. */
export interface Seen {
  status: number;
  headers: Headers;
  text: string;
  chunks: SeenChunk[];
  /** Comment lines. */
  comments: string[];
  /** The joined text of choice 0. */
  content: string;
  calls: SeenCall[];
  finish: string | null;
  error: SeenChunk["error"];
  /** The `toolweir` member of the finish chunk. */
  summary: Record<string, unknown>;
  /** The `toolweir` members of the progress events. */
  progress: Record<string, unknown>[];
}

/** A request with one user message; `members` are added and win. */
export function ask(model: string, members: Record<string, unknown> = {}): Record<string, unknown> {
  return { model, stream: true, messages: [{ role: "user", content: "Go." }], ...members };
}

/** Sends any JSON to the gateway. */
export function send(
  gateway: Pick<Gateway, "url">,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = "POST",
): Promise<Response> {
  return fetch(gateway.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** A chat completion, unstreamed or refused: status, headers and JSON body. */
export async function complete(
  gateway: Pick<Gateway, "url">,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  const response = await send(gateway, "/v1/chat/completions", { ...body, stream: false }, headers);
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

/**
 * A streamed chat completion, read strictly: the head must be that of an event stream, every line `data:`, a comment or empty,
 * every event a JSON chunk with `choices`, the last and only the last one `[DONE]`.
 */
export async function stream(
  gateway: Pick<Gateway, "url">,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Seen> {
  const response = await send(gateway, "/v1/chat/completions", body, headers);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  return { status: response.status, headers: response.headers, ...readEvents(text) };
}

/** Reads the bytes of a streamed answer as strictly as `stream` does. */
export function readEvents(text: string): Omit<Seen, "status" | "headers"> {
  assert.ok(text.endsWith("data: [DONE]\n\n"), `does not end with [DONE]: ${text.slice(-200)}`);
  const lines = text.split("\n");
  for (const line of lines) assert.match(line, /^(data: .+|:.*|)$/, "only data lines and comments");
  const events = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  assert.equal(events.indexOf("[DONE]"), events.length - 1, "[DONE] comes once, at the end");
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as SeenChunk);
  for (const chunk of chunks) assert.ok(Array.isArray(chunk.choices), "every chunk has choices");
  const choices = chunks.flatMap((chunk) => chunk.choices).filter(({ index }) => index === 0);
  const finished = chunks.filter((chunk) => chunk.choices[0]?.finish_reason);
  return {
    text,
    chunks,
    comments: lines.filter((line) => line.startsWith(":")),
    content: choices.map(({ delta }) => String(delta["content"] ?? "")).join(""),
    calls: joinCalls(choices.map(({ delta }) => delta)),
    finish: finished[0]?.choices[0]?.finish_reason ?? null,
    error: chunks.find((chunk) => chunk.error)?.error,
    summary: finished[0]?.toolweir ?? {},
    progress: chunks.flatMap(({ toolweir }) => (toolweir && "type" in toolweir ? [toolweir] : [])),
  };
}

interface CallDelta {
  index: number;
  id?: string;
  function?: { name?: string; arguments?: string };
}

function joinCalls(deltas: readonly Record<string, unknown>[]): SeenCall[] {
  const calls: SeenCall[] = [];
  for (const piece of deltas.flatMap((delta) => (delta["tool_calls"] ?? []) as CallDelta[])) {
    let call = calls.find(({ index }) => index === piece.index);
    if (!call) {
      assert.equal(piece.index, calls.length, "call indexes are dense from 0");
      call = { index: piece.index, id: piece.id ?? "", name: piece.function?.name ?? "", arguments: "" };
      calls.push(call);
    }
    call.arguments += piece.function?.arguments ?? "";
  }
  return calls;
}
