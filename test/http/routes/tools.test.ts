import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import fastify, { type FastifyInstance, type InjectOptions } from "fastify";
import type { Stores } from "../../../src/engine/ports/stores.ts";
import { Authenticator } from "../../../src/http/auth.ts";
import { createErrorHandler } from "../../../src/http/errors.ts";
import { acceptJson } from "../../../src/http/json-body.ts";
import { toolRoutes } from "../../../src/http/routes/tools.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";
import { openRegistry } from "../../support/registry.ts";

const cleanups: { close(): unknown }[] = [];
afterEach(async () => {
  for (const item of cleanups.splice(0)) await item.close();
});

async function setup() {
  const stores: Stores = openSqlite(":memory:", () => 0);
  const registry = await openRegistry(stores.tools);
  const app: FastifyInstance = fastify();
  cleanups.push(app, stores);
  const routes: { url: string; access: unknown }[] = [];
  app.addHook("onRoute", ({ url, config }) => void routes.push({ url, access: config?.access }));
  app.setErrorHandler(createErrorHandler((error) => assert.fail(String(error))));
  acceptJson(app);
  const caller = new Authenticator({ adminKey: "k", mode: "keys", keys: [] }).admit("tools", "Bearer k");
  app.addHook("onRequest", async (request) => {
    request.caller = caller;
  });
  await app.register(toolRoutes, { registry });
  const send = (method: InjectOptions["method"] & string, url: string, body?: unknown, headers = {}) =>
    app.inject({
      method,
      url,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    } as InjectOptions);
  return { app, registry, routes, send };
}

const TOOL = {
  description: "When the user asks for the weather",
  http: { method: "POST", url: "https://api.example.com/weather" },
  level: "read",
};

test("every route is for whoever keeps the tools", async () => {
  const { routes } = await setup();
  assert.ok(routes.length >= 8);
  assert.deepEqual(
    routes.filter(({ access }) => access !== "tools"),
    [],
  );
});

test("PUT creates with 201 and replaces with 200; both answer the stored definition", async () => {
  const { send } = await setup();
  const created = await send("PUT", "/tools/get_weather", TOOL);
  assert.equal(created.statusCode, 201);
  assert.equal(created.headers.etag, '"1"');
  const body = created.json();
  assert.deepEqual(
    [body.name, body.version, body.lint, body.updated_at],
    ["get_weather", 1, [], new Date(0).toISOString()],
  );
  assert.equal(body.timeout_ms, 10_000);
  const replaced = await send("PUT", "/tools/get_weather", { ...TOOL, name: "get_weather", retry: 0 });
  assert.deepEqual([replaced.statusCode, replaced.json().version, replaced.headers.etag], [200, 2, '"2"']);
  const read = await send("GET", "/tools/get_weather");
  assert.deepEqual(read.json(), replaced.json());
  assert.equal(read.headers.etag, '"2"');
});

test("what GET answers can be changed and sent back", async () => {
  const { send } = await setup();
  await send("PUT", "/tools/t", TOOL);
  const body = (await send("GET", "/tools/t")).json();
  const answer = await send("PUT", "/tools/t", { ...body, retry: 1 }, { "if-match": '"1"' });
  assert.deepEqual([answer.statusCode, answer.json().retry], [200, 1]);
});

test("a refused definition is 422 with every fault", async () => {
  const { send } = await setup();
  const answer = await send("PUT", "/tools/get.weather", { ...TOOL, level: "root", retry: -1 });
  assert.equal(answer.statusCode, 422);
  const { error } = answer.json();
  assert.equal(error.code, "schema_rejected");
  assert.equal(error.type, "invalid_request_error");
  assert.deepEqual(error.details.map(({ path }: { path: string }) => path).sort(), [
    "level",
    "name",
    "retry",
  ]);
  assert.equal(
    (await send("PUT", "/tools/a", { ...TOOL, name: "b" })).json().error.code,
    "invalid_tool_definition",
  );
  assert.equal((await send("PUT", "/tools/a", [TOOL])).statusCode, 400);
  assert.equal((await send("PUT", "/tools/a")).statusCode, 400);
  assert.equal(
    (await send("PUT", "/tools/a", { ...TOOL, description: "d".repeat(300_000) })).statusCode,
    413,
  );
});

test("If-Match and If-None-Match guard against lost updates", async () => {
  const { send } = await setup();
  const status = async (headers: object, url = "/tools/t") =>
    (await send("PUT", url, TOOL, headers)).statusCode;
  assert.equal(await status({ "if-match": '"1"' }), 412);
  assert.equal(await status({ "if-match": "*" }), 412);
  assert.equal(await status({ "if-none-match": "*" }), 201);
  const refused = await send("PUT", "/tools/t", TOOL, { "if-none-match": "*" });
  assert.deepEqual(
    [refused.statusCode, refused.json().error.code, refused.headers.etag],
    [412, "precondition_failed", '"1"'],
  );
  assert.equal(await status({ "if-match": '"9", "1"' }), 200);
  for (const stale of ['"1"', 'W/"2"', "2", ""])
    assert.equal(await status({ "if-match": stale }), 412, stale);
  assert.equal(await status({ "if-match": "*" }), 200);
  assert.equal((await send("PATCH", "/tools/t", {}, { "if-match": '"1"' })).statusCode, 412);
  assert.equal((await send("DELETE", "/tools/t", undefined, { "if-match": '"1"' })).statusCode, 412);
  assert.equal((await send("DELETE", "/tools/t", undefined, { "if-match": '"3"' })).statusCode, 204);
});

test("POST creates only", async () => {
  const { send } = await setup();
  const created = await send("POST", "/tools", { name: "t", ...TOOL });
  assert.deepEqual(
    [created.statusCode, created.headers.location, created.headers.etag],
    [201, "/tools/t", '"1"'],
  );
  const again = await send("POST", "/tools", { name: "t", ...TOOL });
  assert.deepEqual([again.statusCode, again.json().error.code], [409, "tool_exists"]);
  assert.equal((await send("POST", "/tools", TOOL)).json().error.code, "invalid_tool_definition");
});

test("PATCH merges, as JSON and as merge patch", async () => {
  const { app, send } = await setup();
  await send("PUT", "/tools/t", TOOL);
  assert.equal((await send("PATCH", "/tools/t", { retry: 0 })).json().retry, 0);
  const answer = await app.inject({
    method: "PATCH",
    url: "/tools/t",
    headers: { "content-type": "application/merge-patch+json" },
    payload: '{"retry":null,"http":{"method":"PUT"}}',
  });
  assert.deepEqual([answer.statusCode, answer.json().retry, answer.json().http.method], [200, 2, "PUT"]);
  assert.equal((await send("PATCH", "/tools/t", { http: null })).statusCode, 422);
  assert.equal((await send("PATCH", "/tools/t", { name: "u" })).statusCode, 422);
  assert.equal((await send("GET", "/tools/t")).json().version, 3);
});

test("the list has every tool, and versions every state of one", async () => {
  const { send } = await setup();
  for (const name of ["b", "a", "b"]) await send("PUT", `/tools/${name}`, TOOL);
  const list = (await send("GET", "/tools")).json();
  assert.equal(list.object, "list");
  assert.deepEqual(
    list.data.map(({ name, version }: { name: string; version: number }) => [name, version]),
    [
      ["a", 1],
      ["b", 2],
    ],
  );
  const versions = (await send("GET", "/tools/b/versions")).json();
  assert.deepEqual(
    versions.data.map(({ version }: { version: number }) => version),
    [1, 2],
  );
  assert.equal(versions.data[0].updated_at, new Date(0).toISOString());
});

test("an unknown tool is 404 everywhere, whatever its name", async () => {
  const { send } = await setup();
  for (const name of ["nobody", "__proto__", "constructor", "*", "..%2f..%2fmetrics"]) {
    for (const answer of [
      await send("GET", `/tools/${name}`),
      await send("GET", `/tools/${name}/versions`),
      await send("PATCH", `/tools/${name}`, {}),
      await send("DELETE", `/tools/${name}`),
    ]) {
      assert.deepEqual([answer.statusCode, answer.json().error.code], [404, "tool_not_found"], name);
    }
  }
});

test("every answer for one tool has the advice about it beside the other tools", async () => {
  const { send } = await setup();
  const near = ["name_ambiguous", "description_ambiguous"];
  const reasons = (answer: { json(): { lint: { reason: string }[] } }) =>
    answer.json().lint.map(({ reason }) => reason);
  await send("PUT", "/tools/get_weather", {
    ...TOOL,
    description: "Sun, rain, wind. For outings, when asked.",
  });
  const again = { ...TOOL, description: "When asked: sun, rain, wind, for outings." };
  assert.deepEqual(reasons(await send("POST", "/tools/lint", { name: "fetch_weather", ...again })), near);
  assert.deepEqual(reasons(await send("GET", "/tools/get_weather")), [], "linting registers nothing");
  assert.deepEqual(reasons(await send("PUT", "/tools/fetch_weather", again)), near);
  assert.deepEqual(reasons(await send("GET", "/tools/get_weather")), near);
  const { data } = (await send("GET", "/tools")).json();
  assert.deepEqual(
    data.map((tool: { lint: unknown[] }) => tool.lint.length),
    [2, 2],
  );
  await send("DELETE", "/tools/fetch_weather");
  assert.deepEqual(reasons(await send("GET", "/tools/get_weather")), []);
});

test("lint says what is wrong or could be better, and stores nothing", async () => {
  const { send } = await setup();
  const good = await send("POST", "/tools/lint", { name: "getWeather", ...TOOL });
  assert.equal(good.statusCode, 200);
  const { valid, faults, lint } = good.json();
  assert.deepEqual([valid, faults], [true, []]);
  assert.deepEqual(
    lint.map(({ path, suggestion }: { path: string; suggestion: string }) => [path, suggestion]),
    [["name", "get_weather"]],
  );
  const bad = (await send("POST", "/tools/lint", { name: "a.b", ...TOOL })).json();
  assert.deepEqual([bad.valid, bad.faults[0].path, bad.lint], [false, "name", []]);
  assert.deepEqual((await send("GET", "/tools")).json().data, []);
});
