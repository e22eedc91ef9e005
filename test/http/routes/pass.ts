import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AuthSettings } from "../../../src/http/auth.ts";
import { passThroughRoutes } from "../../../src/http/routes/passthrough.ts";
import { createServer } from "../../../src/http/server.ts";
import { createPassThrough } from "../../../src/outbound/passthrough.ts";
import { listen, portOf } from "../raw-client.ts";

interface Cleanup {
  after(fn: () => Promise<void>): void;
}
type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A loopback upstream; it closes with the test. Answers with its port. */
export async function startUpstream(t: Cleanup, listener: Listener): Promise<number> {
  const server = createHttpServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  return portOf(server.address());
}

export interface Settings {
  auth?: AuthSettings;
  apiKey?: string;
  maxBodyBytes?: number;
  stallMs?: number;
  timeouts?: { connect: number; first_byte: number; idle: number };
}

/** The gateway in front of `http://127.0.0.1:PORT/api/v1`. Answers with its own port. */
export async function startGateway(
  t: Cleanup,
  upstreamPort: number,
  settings: Settings = {},
): Promise<number> {
  const { auth, apiKey, timeouts, maxBodyBytes = 64 * 1024 * 1024, stallMs = 30_000 } = settings;
  const passThrough = createPassThrough({
    base_url: `http://127.0.0.1:${upstreamPort}/api/v1`,
    api_key: apiKey,
    timeouts_ms: timeouts ?? { connect: 2_000, first_byte: 10_000, idle: 10_000 },
  });
  const app = createServer({
    host: "127.0.0.1",
    auth: auth ?? { adminKey: undefined, mode: "none", keys: [] },
    onError: () => {},
  });
  app.post("/v1/chat/completions", { config: { access: "client" } }, () => "own");
  app.register(passThroughRoutes, { passThrough, maxBodyBytes, stallMs });
  const port = await listen(app, t);
  t.after(() => passThrough.close());
  return port;
}

/** The body of a request or answer as one buffer. */
export async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
