import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import type { BodyChunk, CaseFile, Turn } from "./case-file.ts";
import { isObject, isSame, readJson } from "./json.ts";

/** What the scripted model says when its turns are used up. */
export const FINAL = "Done.";

/** What one replay scripts, and what the servers saw of it. */
export interface Script {
  turns: readonly Turn[];
  toolHttp: NonNullable<CaseFile["tool_http"]>;
  /** Bodies of the requests to the model, in the order of arrival. */
  requests: JsonObject[];
  /** Calls of tools, in the order of arrival. */
  toolCalls: { name: string; arguments: JsonValue }[];
}

/** A model server and a tool server in one. */
export interface ScriptedServers {
  /** Base URL of the model server. */
  model: string;
  /** Where a tool is called. */
  toolUrl(model: string, tool: string): string;
  /** The script that is played for requests with this model, and for its tools. */
  script(model: string, script: Script): void;
  close(): Promise<void>;
}

/** Starts the servers on one free port of the loopback address. */
export async function startScriptedServers(): Promise<ScriptedServers> {
  const scripts = new Map<string, Script>();
  const server = createServer((request, response) => {
    void answer(request, response, scripts).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    model: `${url}/v1`,
    toolUrl: (model, tool) => `${url}/tools/${encodeURIComponent(model)}/${encodeURIComponent(tool)}`,
    script: (model, script) => void scripts.set(model, script),
    close: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  scripts: ReadonlyMap<string, Script>,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = readJson(Buffer.concat(parts).toString());
  const [, kind, model = "", tool = ""] = (request.url ?? "").split("/").map(decodeURIComponent);
  if (kind === "tools") return play(toolTurn(scripts.get(model), tool, body), response);
  const script = isObject(body) ? scripts.get(String(body["model"])) : undefined;
  const place = script ? script.requests.push(body as JsonObject) - 1 : 0;
  return play(script?.turns[place] ?? textTurn(FINAL), response);
}

function toolTurn(script: Script | undefined, name: string, args: JsonValue): Turn {
  script?.toolCalls.push({ name, arguments: args });
  const scripted = script?.toolHttp[name];
  const turn =
    scripted && "by_arguments" in scripted
      ? scripted.by_arguments.find(({ when }) => isSame(when, args))
      : scripted;
  return turn ?? { headers: { "content-type": "application/json" }, body_chunks: ['{"ok":true}'] };
}

async function play(turn: Turn, response: ServerResponse): Promise<void> {
  if (turn.delay_ms !== undefined) await sleep(turn.delay_ms, undefined, { ref: false });
  response.writeHead(turn.status ?? 200, turn.headers ?? {});
  response.flushHeaders();
  for (const piece of turn.body_chunks ?? []) {
    if (response.destroyed) return;
    if (typeof piece === "object" && "delay_ms" in piece)
      await sleep(piece.delay_ms, undefined, { ref: false });
    else await new Promise((resolve) => response.write(bytesOf(piece), resolve));
  }
  if (turn.end === "reset") response.socket?.resetAndDestroy();
  else if (turn.end !== "hang") response.end();
}

function bytesOf(piece: Exclude<BodyChunk, { delay_ms: number }>): Buffer {
  if (typeof piece === "string") return Buffer.from(piece);
  return "hex" in piece ? Buffer.from(piece.hex, "hex") : Buffer.from(piece.repeat.repeat(piece.times));
}

const HEAD = { id: "chatcmpl-case", object: "chat.completion.chunk", created: 1_750_000_000, model: "case" };

function chunk(delta: object, finish_reason: string | null): string {
  return `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

const stream = (...body_chunks: readonly string[]): Turn => ({
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  body_chunks: [...body_chunks, "data: [DONE]\n\n"],
});

/** A streamed reply that says something. */
const textTurn = (content: string): Turn =>
  stream(chunk({ role: "assistant", content }, null), chunk({}, "stop"));

/** A streamed reply that calls a tool, with the argument text in pieces of a few characters. */
export function callTurn(name: string, text: string): Turn {
  const call = { index: 0, id: "call_case", type: "function", function: { name, arguments: "" } };
  const units = [...text];
  const size = units.length > 4_000 ? 997 : 5;
  const pieces = Array.from({ length: Math.ceil(units.length / size) }, (_, at) =>
    units.slice(at * size, (at + 1) * size).join(""),
  );
  const delta = (args: string) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] });
  return stream(
    chunk({ role: "assistant", content: null, tool_calls: [call] }, null),
    ...pieces.map((piece) => chunk(delta(piece), null)),
    chunk({}, "tool_calls"),
  );
}
