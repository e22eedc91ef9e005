import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Listening, listen, sendError, sendJson } from "./listen.ts";
import { type ChatBody, type Reply, reply } from "./model.ts";

/** Milliseconds until the first token, and between pieces of text and of arguments. */
const FIRST_TOKEN_MS = 160;
const TEXT_MS = [18, 30, 12, 24];
const ARGUMENT_MS = [14, 8, 20];
/** Characters of the pieces in which arguments arrive, by turns. */
const PIECES = [4, 7, 3, 9, 5];

/** A model server with the scripted model behind it: streams in small pieces, at the pace of a quick provider. */
export function startUpstream(): Promise<Listening> {
  return listen(async ({ method, url, body }, response) => {
    if (method === "GET" && url.pathname === "/v1/models") {
      sendJson(response, 200, {
        object: "list",
        data: [{ id: "scripted-model", object: "model", owned_by: "demo" }],
      });
    } else if (method === "POST" && url.pathname === "/v1/chat/completions") {
      await complete(body as ChatBody, response);
    } else sendError(response, 404, `The scripted model server has no ${method} ${url.pathname}.`);
  });
}

async function complete(body: ChatBody, response: ServerResponse): Promise<void> {
  const said = reply(body);
  const calls = said.calls.map((call) => ({
    id: `call_${randomUUID().slice(0, 8)}`,
    type: "function",
    function: call,
  }));
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  const usage = usageOf(body, said);
  const head = {
    id: `chatcmpl-${randomUUID().slice(0, 8)}`,
    created: Math.floor(Date.now() / 1000),
    model: body.model,
  };
  await sleep(FIRST_TOKEN_MS);
  if (!body.stream) {
    const message = {
      role: "assistant",
      content: said.text || null,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, finish_reason: finish }];
    sendJson(response, 200, { ...head, object: "chat.completion", choices, usage });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const send = (members: object): void => {
    response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...members })}\n\n`);
  };
  for (const { delta, afterMs } of deltas(said.text, calls)) {
    await sleep(afterMs);
    if (response.destroyed) return;
    send({ choices: [{ index: 0, delta, finish_reason: null }] });
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  if (body.stream_options?.include_usage) send({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

interface Call {
  id: string;
  type: string;
  function: { name: string; arguments: string };
}

/** The pieces of one reply: the role, the text in words, the heads of all calls, then their arguments by turns. */
function* deltas(text: string, calls: readonly Call[]): Generator<{ delta: object; afterMs: number }> {
  yield { delta: { role: "assistant", content: text === "" ? null : "" }, afterMs: 0 };
  for (const [at, word] of (text.match(/\s*\S+/g) ?? []).entries()) {
    yield { delta: { content: word }, afterMs: pick(TEXT_MS, at) };
  }
  const end = /\s+$/.exec(text)?.[0];
  if (end) yield { delta: { content: end }, afterMs: 0 };
  for (const [index, { function: wanted, ...call }] of calls.entries()) {
    const head = { index, ...call, function: { name: wanted.name, arguments: "" } };
    yield { delta: { tool_calls: [head] }, afterMs: pick(ARGUMENT_MS, index) };
  }
  const pieces = calls.map((call) => cut(call.function.arguments));
  const turns = Math.max(0, ...pieces.map(({ length }) => length));
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, list] of pieces.entries()) {
      const piece = list[turn];
      if (piece === undefined) continue;
      const part = { index, function: { arguments: piece } };
      yield { delta: { tool_calls: [part] }, afterMs: pick(ARGUMENT_MS, turn) };
    }
  }
}

function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = pick(PIECES, pieces.length);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

const pick = (list: readonly number[], at: number): number => list[at % list.length] ?? 0;

/** A rough count of tokens: four characters each. */
function usageOf(body: ChatBody, said: Reply) {
  const prompt_tokens = Math.ceil(JSON.stringify([body.messages, body.tools ?? []]).length / 4);
  const spoken = said.text + said.calls.map((call) => call.name + call.arguments).join("");
  const completion_tokens = Math.ceil(spoken.length / 4);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
