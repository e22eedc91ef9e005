import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, buildApp } from "../../../src/app.ts";
import { loadConfig } from "../../../src/config.ts";

/** What a test hands its clean-up to. */
export interface Cleanup {
  after(fn: () => Promise<void> | void): void;
}

export interface GatewayOptions {
  /** Base URL of the default upstream, as `scriptedUpstream` gives it. */
  upstream?: string;
  /** The text of `toolweir.yaml`. */
  yaml?: string;
  /** Environment variables over the defaults below. */
  env?: Record<string, string>;
  /** Folder that holds `tools/`; without it there are no tool files. */
  folder?: string;
}

export interface Gateway {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  app: App;
  /** Closes the gateway; the test does it in any case. */
  close(): Promise<void>;
}

/** Starts a whole gateway on a free loopback port, open to everyone, silent, with a store in memory. It closes with the test. */
export async function startGateway(t: Cleanup, options: GatewayOptions = {}): Promise<Gateway> {
  const folder = options.folder ?? join(tmpdir(), `toolweir-none-${randomUUID()}`);
  const env = {
    TOOLWEIR_CONFIG: join(folder, "toolweir.yaml"),
    TOOLWEIR_STORE: "memory:",
    TOOLWEIR_LOG_LEVEL: "silent",
    ...(options.upstream && { TOOLWEIR_UPSTREAM_URL: options.upstream }),
    ...options.env,
  };
  const app = await buildApp({
    config: loadConfig(env, () => options.yaml ?? ""),
    env,
    startTracing: async () => ({ tracer: undefined, shutdown: async () => {} }),
  });
  await app.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    app.engine.cutOff();
    app.server.server.closeAllConnections();
    closed ??= Promise.resolve(app.server.close());
    return closed;
  };
  t.after(close);
  return { url: `http://127.0.0.1:${port}`, app, close };
}

/** A tool definition without its name: `url` is where it is called; `members` are any further members, and win. */
export interface ToolOptions {
  url: string;
  [member: string]: unknown;
}

/**
 * Registers a tool over REST. By default it is a `read` tool with one required string parameter `place`, called by POST.
 * Throws with the answer when it is refused.
 */
export async function registerTool(
  gateway: Pick<Gateway, "url">,
  name: string,
  options: ToolOptions,
  headers: Record<string, string> = {},
): Promise<void> {
  const { url, ...members } = options;
  const definition = {
    description: `Use ${name} when the user asks for it.`,
    parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
    http: { method: "POST", url },
    level: "read",
    ...members,
  };
  const response = await fetch(`${gateway.url}/tools/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(definition),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The tool ${name} was refused: ${response.status} ${text}`);
}
