import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of the demo that is up. */
export interface Listening {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  /** Cuts open connections off. */
  close(): Promise<void>;
}

/** A request that was read to its end. */
export interface DemoRequest {
  method: string;
  url: URL;
  /** What the JSON body stands for; `undefined` where there is no body. */
  body: unknown;
}

export type Handler = (request: DemoRequest, response: ServerResponse) => Promise<void>;

/** Starts a server on a free port of the loopback address. A body that is not JSON is answered with 400. */
export async function listen(handler: Handler): Promise<Listening> {
  const server = createServer((request, response) => void answer(request, response, handler));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => close(server) };
}

/** Answers with one JSON text. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Answers with an error in the form of the OpenAI API. */
export function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, {
    error: { message, type: "invalid_request_error", param: null, code: null },
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, handler: Handler): Promise<void> {
  try {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    await handler(
      { method: request.method ?? "", url, body: text === "" ? undefined : JSON.parse(text) },
      response,
    );
  } catch (error) {
    if (response.headersSent || response.destroyed) response.destroy();
    else sendError(response, 400, error instanceof Error ? error.message : String(error));
  }
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
