import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { ToolDefinition, ToolHttp } from "../../src/core/tool.ts";
import type { ToolAttempt } from "../../src/engine/ports/tools.ts";
import { createAddressGuard } from "../../src/outbound/address-guard.ts";
import { createToolTransport } from "../../src/outbound/tool-http.ts";

/** A read tool without retries, with whatever the test says differently. */
export function toolOf(
  http: Partial<ToolHttp>,
  rest: Partial<Omit<ToolDefinition, "http">> = {},
): ToolDefinition {
  return {
    name: "t",
    description: "d",
    http: { method: "GET", url: "http://127.0.0.1/", query: {}, headers: {}, body: "json", ...http },
    level: "read",
    confirm: "auto",
    timeout_ms: 5000,
    retry: 0,
    backoff_ms: 1,
    parallel_safe: false,
    partial_ok: false,
    cache_ttl_s: 0,
    shared: false,
    thought: false,
    result: { max_bytes: 16_384, overflow: "truncate" },
    tags: [],
    keywords: [],
    examples: [],
    version: 1,
    ...rest,
  };
}

/** An attempt of a call whose ids say what they are. */
export const attempt: ToolAttempt = {
  runId: "run1",
  callId: "call1",
  sessionId: "session1",
  user: undefined,
  idempotencyKey: "key1",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

/** A transport in `open` mode that ends with the test. */
export function openTransport(t: TestContext, maxReadBytes?: number) {
  const transport = createToolTransport({
    policy: createAddressGuard({ network: "open", allowHosts: [] }),
    secrets: (name) => (name === "KEY" ? "s3cret" : undefined),
    ...(maxReadBytes !== undefined && { maxReadBytes }),
  });
  t.after(() => transport.close());
  return transport;
}

/** An HTTP server for one test: its base URL. */
export async function serveHttp(t: TestContext, answer: http.RequestListener): Promise<string> {
  return await listen(t, http.createServer(answer));
}

/** A TCP server for one test, for what no HTTP server would do. */
export async function serveTcp(t: TestContext, onSocket: (socket: Socket) => void): Promise<string> {
  return await listen(t, net.createServer(onSocket));
}

async function listen(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The whole body of a request as text. */
export async function bodyOf(request: http.IncomingMessage): Promise<string> {
  return (await request.toArray()).join("");
}
