import { fileURLToPath } from "node:url";
import { buildApp } from "../src/app.ts";
import { loadConfig } from "../src/config.ts";
import { startTracing } from "../src/telemetry/tracing.ts";
import type { Listening } from "./listen.ts";
import { toolDefinitions } from "./tools.ts";

/** Where the gateway gets completions from. */
export interface ModelServer {
  /** With `/v1` at its end. */
  url: string;
  key: string;
}

/** What the gateway said when a tool was registered. */
export interface Registered {
  name: string;
  status: number;
  version: number;
}

/**
 * Starts the gateway on a free loopback port, with its store in memory. Nothing outside decides about it: no configuration file,
 * no tool files, no environment. Throws `ConfigError` for a URL that cannot be used.
 */
export async function startGateway({ url, key }: ModelServer): Promise<Listening> {
  const settings = {
    TOOLWEIR_CONFIG: fileURLToPath(new URL("toolweir.yaml", import.meta.url)),
    TOOLWEIR_HOST: "127.0.0.1",
    TOOLWEIR_PORT: "0",
    TOOLWEIR_STORE: "memory:",
    TOOLWEIR_LOG_LEVEL: "silent",
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: key,
  };
  const config = loadConfig(settings, () => "");
  const app = await buildApp({ config, env: {}, startTracing: (log) => startTracing({}, log) });
  const address = await app.server.listen({ host: config.host, port: config.port });
  return {
    url: address,
    async close() {
      app.retire();
      app.engine.cutOff();
      const closed = app.server.close();
      app.server.server.closeAllConnections();
      await closed;
    },
  };
}

/** Registers the demo's tools over the management API. Throws where one is refused. */
export async function registerTools(gateway: string, toolServer: string): Promise<Registered[]> {
  const registered: Registered[] = [];
  for (const definition of toolDefinitions(toolServer)) {
    const response = await fetch(`${gateway}/tools/${definition.name}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(definition),
    });
    if (!response.ok)
      throw new Error(`PUT /tools/${definition.name}: ${response.status} ${await response.text()}`);
    const { name, version } = (await response.json()) as Registered;
    registered.push({ name, version, status: response.status });
  }
  return registered;
}
