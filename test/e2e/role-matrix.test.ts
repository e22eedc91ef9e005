/** Every route of the gateway against every role. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fastify } from "fastify";
import { buildApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config.ts";

const ROLES = ["client", "approver", "tools_admin", "metrics", "admin"] as const;
const YAML = `auth: { keys: [${ROLES.map((role) => `{ name: the_${role}, key: key-of-${role}, role: ${role} }`).join(", ")}] }`;

/** Who may use what, by the beginning of the path. The first that fits counts; nobody but administrators what fits none. */
const MATRIX: readonly (readonly [RegExp, readonly string[] | "public"])[] = [
  [/^\/(healthz|readyz)$/, "public"],
  [/^\/openapi\.json$/, ROLES],
  [/^\/metrics$/, ["client", "metrics", "admin"]],
  [/^\/(v1|runs|sessions)(\/|$)/, ["client", "admin"]],
  [/^\/approvals(\/|$)/, ["client", "approver", "admin"]],
  [/^\/tools(\/|$)/, ["tools_admin", "admin"]],
];

interface Route {
  method: string;
  url: string;
}

/** The real gateway, and the routes that it registered. */
async function gateway() {
  const routes: Route[] = [];
  const config = loadConfig(
    { TOOLWEIR_STORE: "memory:", TOOLWEIR_ADMIN_KEY: "k", TOOLWEIR_LOG_LEVEL: "silent" },
    () => YAML,
  );
  const startTracing = async () => ({ tracer: undefined, shutdown: async () => {} });
  const { server, engine } = await buildApp({ config, env: {}, startTracing });
  await server.ready();
  for (const line of flat(server.printRoutes({ commonPrefix: false }))) routes.push(line);
  return { server, engine, routes };
}

/** `printRoutes` as a list. */
function flat(tree: string): Route[] {
  const parents: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const parts = /^([│ ├└─]*)(\S.*?)(?: \(([A-Z, ]+)\))?$/u.exec(line);
    if (!parts?.[2]) return [];
    const depth = (parts[1] ?? "").length / 4;
    const path = `${depth > 1 ? (parents[depth - 1] ?? "") : ""}${parts[2]}`;
    parents[depth] = path;
    return (parts[3] ?? "")
      .split(", ")
      .filter(Boolean)
      .map((method) => ({ method, url: path }));
  });
}

test("every role has exactly what is meant for it, and nobody anything without a key", async (t) => {
  const { server, routes } = await gateway();
  t.after(() => server.close());
  assert.ok(routes.length > 40, `${routes.length} routes`);
  assert.ok(routes.some(({ url }) => url.startsWith("/keys")));
  // What fits no route is answered alike for everybody.
  for (const { method, url } of routes.filter((route) => route.url !== "*")) {
    const [, meant = ["admin"]] = MATRIX.find(([path]) => path.test(url)) ?? [];
    const path = url.replaceAll(/:[a-z]+/g, "no-such-thing").replace("*", "no-such-thing");
    const status = async (role?: string) => {
      const headers = {
        host: "127.0.0.1",
        ...(role !== undefined && { authorization: `Bearer key-of-${role}` }),
      };
      return (await server.inject({ method: method as "GET", url: path, headers })).statusCode;
    };
    if (meant === "public") {
      assert.notEqual(await status(), 401, `${method} ${url}`);
      continue;
    }
    assert.equal(await status(), 401, `${method} ${url} without a key`);
    for (const role of ROLES) {
      // Nothing that would go on to another server is sent: only who may not is tried there.
      if (meant.includes(role) && (url.startsWith("/v1") || url.endsWith("/events"))) continue;
      const isRefused = [401, 403].includes(await status(role));
      assert.equal(isRefused, !meant.includes(role), `${method} ${url} as ${role}`);
    }
  }
});

test("other spellings of a route open nothing", async (t) => {
  const { server } = await gateway();
  t.after(() => server.close());
  for (const url of [
    "/tools/",
    "/Tools",
    "/%74ools",
    "//tools",
    "/keys/",
    "/KEYS",
    "/keys%2f",
    "/v1/../keys",
  ]) {
    const { statusCode } = await server.inject({ url, headers: { host: "127.0.0.1" } });
    assert.ok([400, 401, 404].includes(statusCode), `${url}: ${statusCode}`);
  }
});

test("no route can be reached without a key by a slash at the end, other letters or OPTIONS", async (t) => {
  const { server, routes } = await gateway();
  t.after(() => server.close());
  const isPublic = (url: string) => MATRIX.some(([path, meant]) => meant === "public" && path.test(url));
  for (const { method, url } of routes.filter((route) => route.url !== "*" && !isPublic(route.url))) {
    const path = url.replaceAll(/:[a-z]+/g, "x1").replace("*", "x1");
    for (const [verb, target] of [
      [method, `${path}/`],
      [method, path.toUpperCase()],
      ["OPTIONS", path],
    ] as const) {
      const headers = { host: "127.0.0.1" };
      const { statusCode } = await server.inject({ method: verb as "GET", url: target, headers });
      assert.ok([401, 404, 405].includes(statusCode), `${verb} ${target}: ${statusCode}`);
    }
  }
});

test("the list of routes is read rightly", async () => {
  const app = fastify();
  app.get("/a", () => "");
  app.put("/a/:id", () => "");
  app.get("/a/:id/b", () => "");
  await app.ready();
  const seen = flat(app.printRoutes({ commonPrefix: false })).map(({ method, url }) => `${method} ${url}`);
  assert.deepEqual(seen.toSorted(), ["GET /a", "GET /a/:id/b", "HEAD /a", "HEAD /a/:id/b", "PUT /a/:id"]);
});
