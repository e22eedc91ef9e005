import type { ChatChunk, Delta } from "../../src/core/protocol/wire.ts";

/** What every chunk of the scripted model has in common. */
export const UPSTREAM = { id: "chatcmpl-up", created: 1_750_000_000, model: "up-model" } as const;

/** A chunk with one choice. */
export function chunk(delta: Delta, choice: object = {}, members: object = {}): ChatChunk {
  const { id, created, model } = UPSTREAM;
  return {
    id,
    object: "chat.completion.chunk",
    created,
    model,
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...members,
  };
}

/** A chunk that says text. */
export const said = (content: string) => chunk({ content });

/** The members of one entry of `tool_calls`, those of the function beside the others. */
export interface CallPiece {
  index?: number | null;
  id?: string | null;
  name?: string | null;
  args?: unknown;
  [member: string]: unknown;
}

/** One entry of `tool_calls`. */
export function callPiece({ name, args, ...rest }: CallPiece): Record<string, unknown> {
  const body = { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) };
  return { ...rest, function: body };
}

/** A chunk with pieces of tool calls. */
export const callChunk = (...pieces: CallPiece[]) => chunk({ tool_calls: pieces.map(callPiece) });

/** A chunk that ends a choice. */
export const finish = (reason: string, delta: Delta = {}) => chunk(delta, { finish_reason: reason });

/** One server-sent event. */
export const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** A whole stream: the chunks, then `[DONE]`. */
export const stream = (...chunks: unknown[]) => [...chunks, "[DONE]"].map(event).join("");

/** A stream that says one text. */
export const textStream = (text: string) => stream(chunk({ role: "assistant" }), said(text), finish("stop"));

/** A stream that calls tools, one whole call a chunk. */
export const callStream = (...pieces: CallPiece[]) =>
  stream(...pieces.map((piece, index) => callChunk({ index, ...piece })), finish("tool_calls"));

/** An unstreamed completion. */
export function completion(message: object, finishReason: string | null = "stop", members: object = {}) {
  return {
    ...UPSTREAM,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason }],
    ...members,
  };
}
