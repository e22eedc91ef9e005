import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { after, before, describe, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { type App, buildApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";
import { DOCUMENT, operations } from "./openapi.ts";

/** Described for their own sake, though one route of the gateway serves them with everything else under `/v1`. */
const PASSED_THROUGH = ["GET /v1/models"];

const INITIALIZED = "fastify.initialization";

/** The gateway in this process, and every route that it registered, as `METHOD /path`. */
async function buildWithRoutes(): Promise<{ app: App; routes: Set<string> }> {
  const routes = new Set<string>();
  const listen = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook("onRoute", ({ method, url }) => {
      for (const name of [method].flat()) routes.add(`${name} ${asPath(url)}`);
    });
  };
  subscribe(INITIALIZED, listen);
  try {
    const config = loadConfig({ TOOLWEIR_STORE: "memory:", TOOLWEIR_LOG_LEVEL: "silent" }, () => "");
    const startTracing = async () => ({ tracer: undefined, shutdown: async () => {} });
    return { app: await buildApp({ config, env: {}, startTracing }), routes };
  } finally {
    unsubscribe(INITIALIZED, listen);
  }
}

const asPath = (url: string) => url.replace(/:(\w+)/g, "{$1}").replace("*", "{path}");

describe("openapi.yaml and the routes of the gateway", () => {
  let app: App;
  let routes: Set<string>;
  before(async () => {
    ({ app, routes } = await buildWithRoutes());
  });
  after(() => app.server.close());

  test("are the same, in both directions", () => {
    const described = operations().map(({ method, path }) => `${method} ${path}`);
    // HEAD is what HTTP says it is wherever there is a GET.
    const registered = [...routes].filter((route) => !route.startsWith("HEAD "));
    assert.deepEqual([...registered, ...PASSED_THROUGH].sort(), described.sort());
  });

  test("agree on what is open to everybody", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      assert.deepEqual(operations().find((entry) => entry.path === path)?.operation.security, []);
      const headers = { host: "localhost" };
      assert.equal((await app.server.inject({ url: path, headers })).statusCode, 200, path);
    }
  });

  test("the document is served as it stands in the repository", async () => {
    const answer = await app.server.inject({ url: "/openapi.json", headers: { host: "localhost" } });
    assert.deepEqual(answer.json(), DOCUMENT);
  });
});
