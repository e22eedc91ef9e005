import { buildApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";

/** A gateway that is up. */
export interface Gateway {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  close(): Promise<void>;
}

/**
 * Starts the gateway of this checkout on a free loopback port, with its store in memory, in front of a model server. Nothing else
 * decides about it: no configuration file, no tool files, no environment.
 */
export async function startGateway(modelServer: string): Promise<Gateway> {
  const settings = {
    TOOLWEIR_CONFIG: new URL("no-such-folder/toolweir.yaml", import.meta.url).pathname,
    TOOLWEIR_HOST: "127.0.0.1",
    TOOLWEIR_PORT: "0",
    TOOLWEIR_STORE: "memory:",
    TOOLWEIR_LOG_LEVEL: "silent",
    TOOLWEIR_UPSTREAM_URL: modelServer,
    TOOLWEIR_UPSTREAM_KEY: "sk-of-the-cases",
  };
  const config = loadConfig(settings, () => "limits: { tool_calls: 40 }");
  const startTracing = async () => ({ tracer: undefined, shutdown: async () => {} });
  const app = await buildApp({ config, env: {}, startTracing });
  const url = await app.server.listen({ host: config.host, port: config.port });
  return {
    url,
    async close() {
      app.engine.cutOff();
      const closed = app.server.close();
      app.server.server.closeAllConnections();
      await closed;
    },
  };
}
