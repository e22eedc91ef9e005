import type { Cleanup } from "./gateway.ts";
import { type Recorded, type ScriptedServer, scriptedServer, type Turn } from "./scripted-server.ts";

/** The members of an upstream request that tests look at. */
export interface UpstreamBody {
  model: string;
  messages: { role: string; content?: unknown; tool_calls?: unknown[]; tool_call_id?: string }[];
  tools?: { type: string; function: { name: string } }[];
  tool_choice?: unknown;
  stream?: boolean;
  [member: string]: unknown;
}

export interface ScriptedUpstream extends ScriptedServer<UpstreamBody> {
  /** The base URL for the gateway's settings: ends with `/v1`. */
  baseUrl: string;
  /** Sets the turns of a model: one for each request in turn; the last one is repeated. */
  script(model: string, turns: readonly Turn[]): void;
  /** The requests for one model, in the order of arrival. */
  of(model: string): Recorded<UpstreamBody>[];
}

/** An OpenAI-compatible server that plays what is scripted for the model of the request, and answers 404 for other models. */
export async function scriptedUpstream(t: Cleanup): Promise<ScriptedUpstream> {
  const scripts = new Map<string, Turn[]>();
  const server = await scriptedServer<UpstreamBody>(t, ({ body }) => {
    const turns = scripts.get(body.model);
    const turn = turns && turns.length > 1 ? turns.shift() : turns?.[0];
    return turn ?? { status: 404, body: ['{"error":{"message":"no script for this model"}}'] };
  });
  return {
    ...server,
    baseUrl: `${server.url}/v1`,
    script: (model, turns) => void scripts.set(model, [...turns]),
    of: (model) => server.requests.filter(({ body }) => body.model === model),
  };
}

/** A tool call as a model makes it. */
export interface ScriptedCall {
  id?: string;
  name: string;
  /** Text, or a value to be spelled as JSON. */
  args: unknown;
}

export interface Reply {
  text?: string;
  calls?: readonly ScriptedCall[];
  /** By default `tool_calls` with calls, else `stop`. */
  finish?: string;
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const HEAD = { id: "chatcmpl-up", created: 1_790_000_000, model: "the-upstream-name" };

/** One SSE frame; a string goes in as it is. */
export function frame(data: unknown): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** The frame of an ordinary chunk with one choice. */
export function chunk(delta: Record<string, unknown>, finish: string | null = null): string {
  return frame({
    ...HEAD,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

const textOf = ({ args }: ScriptedCall) => (typeof args === "string" ? args : JSON.stringify(args));
const finishOf = (reply: Reply) => reply.finish ?? (reply.calls?.length ? "tool_calls" : "stop");
const idOf = (call: ScriptedCall, index: number) => call.id ?? `call_${call.name}_${index}`;

/** The frames of a well-behaved streamed reply, to be cut up or changed by a test. */
export function frames(reply: Reply): string[] {
  const list = [chunk({ role: "assistant", content: "" })];
  for (const word of reply.text?.match(/\S+\s*|\s+/g) ?? []) list.push(chunk({ content: word }));
  for (const [index, call] of (reply.calls ?? []).entries()) {
    const head = { index, id: idOf(call, index), type: "function" };
    list.push(chunk({ tool_calls: [{ ...head, function: { name: call.name, arguments: "" } }] }));
    for (const piece of textOf(call).match(/.{1,9}/gsu) ?? [])
      list.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  list.push(chunk({}, finishOf(reply)));
  if (reply.usage)
    list.push(frame({ ...HEAD, object: "chat.completion.chunk", choices: [], usage: reply.usage }));
  return [...list, frame("[DONE]")];
}

/** A streamed turn of these frames. */
export function sse(...body: NonNullable<Turn["body"]>): Turn {
  return { headers: { "content-type": "text/event-stream" }, body };
}

/** A well-behaved streamed reply. */
export function streamed(reply: Reply): Turn {
  return sse(...frames(reply));
}

/** The same reply unstreamed. */
export function whole(reply: Reply): Turn {
  const tool_calls = reply.calls?.map((call, index) => ({
    id: idOf(call, index),
    type: "function",
    function: { name: call.name, arguments: textOf(call) },
  }));
  const message = { role: "assistant", content: reply.text ?? null, ...(tool_calls && { tool_calls }) };
  const choices = [{ index: 0, message, finish_reason: finishOf(reply) }];
  const body = { ...HEAD, object: "chat.completion", choices, ...(reply.usage && { usage: reply.usage }) };
  return { body: [JSON.stringify(body)] };
}
