import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cleanup } from "./gateway.ts";

/** One scripted answer. */
export interface Turn {
  status?: number;
  headers?: Record<string, string>;
  /** Milliseconds before the head of the answer. */
  wait?: number;
  /** Written one by one; a number is a pause in milliseconds, a function is awaited (to hold the answer until a test says so). */
  body?: readonly (string | Buffer | number | (() => Promise<unknown>))[];
  /** `close` (default) ends the answer, `reset` breaks the connection, `hang` leaves it open. */
  end?: "close" | "reset" | "hang";
}

/** A request as it arrived. `body` is the parsed JSON, or the text where it is none. */
export interface Recorded<Body = unknown> {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: Body;
  /** On the clock of `performance.now()`. */
  at: number;
  /** When the other side gave up before the answer was complete, on the same clock. */
  leftAt: number | undefined;
}

export interface ScriptedServer<Body> {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  requests: Recorded<Body>[];
  close(): Promise<void>;
}

/** Starts an HTTP server whose answers `answer` chooses, request by request. It closes with the test. */
export async function scriptedServer<Body>(
  t: Cleanup,
  answer: (request: Recorded<Body>) => Turn,
): Promise<ScriptedServer<Body>> {
  const requests: Recorded<Body>[] = [];
  const server = createServer((incoming, response) => {
    void record<Body>(incoming, response).then((request) => {
      requests.push(request);
      return play(answer(request), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  t.after(close);
  return { url: `http://127.0.0.1:${port}`, requests, close };
}

async function record<Body>(incoming: IncomingMessage, response: ServerResponse): Promise<Recorded<Body>> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  const request: Recorded<Body> = {
    method: incoming.method ?? "",
    url: incoming.url ?? "",
    headers: incoming.headers,
    text,
    body: parsed(text) as Body,
    at: performance.now(),
    leftAt: undefined,
  };
  response.once("close", () => {
    if (!response.writableFinished) request.leftAt = performance.now();
  });
  return request;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function play(turn: Turn, response: ServerResponse): Promise<void> {
  if (turn.wait !== undefined) await pause(turn.wait);
  if (response.destroyed) return;
  response.writeHead(turn.status ?? 200, { "content-type": "application/json", ...turn.headers });
  response.flushHeaders();
  for (const piece of turn.body ?? []) {
    if (typeof piece === "number") await pause(piece);
    else if (typeof piece === "function") await piece();
    else if (!response.destroyed) await new Promise((resolve) => response.write(piece, resolve));
  }
  if (turn.end === "reset") response.socket?.resetAndDestroy();
  else if (turn.end !== "hang") response.end();
}

/** A pause that does not keep a test from ending. */
function pause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
