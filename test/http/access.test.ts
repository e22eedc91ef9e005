import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT, createEdge, KEYED, OPEN } from "./edge.ts";

const chat = (headers: Record<string, string>) => ({
  method: "POST" as const,
  url: "/v1/chat/completions",
  headers: { host: "127.0.0.1", "content-type": "application/json", ...headers },
  payload: CHAT,
});

test("every route that is not public answers 401 without a key, whatever the method and spelling", async () => {
  const { app } = createEdge();
  const routes: { method: string; url: string }[] = [];
  app.addHook("onRoute", ({ method, url, config }) => {
    if ((config as { access?: string } | undefined)?.access === "public") return;
    for (const name of [method].flat()) routes.push({ method: name, url });
  });
  app.get("/added/*", () => "never");
  app.patch("/added/:id", { config: { access: "client" } }, () => "never");
  await app.ready();
  assert.ok(routes.length >= 3);
  for (const { method, url } of routes) {
    const answer = await app.inject({
      method: method as "GET",
      url: url.replace(":id", "1").replace("*", "x/y"),
    });
    assert.equal(answer.statusCode, 401, `${method} ${url}`);
    assert.equal(answer.headers["www-authenticate"], "Bearer");
  }
  for (const url of ["/tools/", "/Tools", "/%74ools", "/tools/.", "//tools", "/tools;x"]) {
    const { statusCode } = await app.inject({ url });
    assert.ok([401, 404].includes(statusCode), `${url}: ${statusCode}`);
  }
});

test("a route that says nothing about its access is for administrators", async () => {
  const { app } = createEdge();
  app.get("/silent", (request) => ({ caller: request.caller.name }));
  const as = async (key: string) =>
    (await app.inject({ url: "/silent", headers: { authorization: `Bearer ${key}` } })).statusCode;
  assert.deepEqual([await as("admin-key"), await as("client-key"), await as("wrong")], [200, 403, 401]);
});

test("the handler knows the caller", async () => {
  const { app } = createEdge();
  const answer = await app.inject(chat({ authorization: "Bearer client-key" }));
  assert.equal(answer.json().caller.name, "app");
});

test("on a loopback address only names of this machine are served", async () => {
  const { app } = createEdge();
  const authorization = "Bearer client-key";
  for (const host of ["localhost", "LOCALHOST:8787", "127.0.0.1", "127.0.0.1:1", "[::1]:8787", "127.1.2.3"]) {
    assert.equal((await app.inject(chat({ host, authorization }))).statusCode, 200, host);
  }
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "10.0.0.1:8787",
    "[::2]",
  ]) {
    const answer = await app.inject(chat({ host, authorization }));
    assert.equal(answer.statusCode, 421, host);
    assert.equal(answer.json().error.code, "host_not_allowed");
  }
  assert.equal((await app.inject({ url: "/healthz", headers: { host: "evil.example" } })).statusCode, 421);
});

test("on any other address every well-formed Host is served", async () => {
  const { app } = createEdge(KEYED, {}, "0.0.0.0");
  const answer = await app.inject(
    chat({ host: "my_service.internal:80", authorization: "Bearer client-key" }),
  );
  assert.equal(answer.statusCode, 200);
});

test("an open gateway on loopback refuses pages of other origins", async () => {
  const { app } = createEdge(OPEN);
  for (const origin of ["https://evil.example", "null", "http://localhost.evil.example", "file://"]) {
    const answer = await app.inject(chat({ origin }));
    assert.equal(answer.statusCode, 403, origin);
    const management = await app.inject({
      method: "DELETE",
      url: "/tools/a",
      headers: { host: "localhost", origin },
    });
    assert.equal(management.statusCode, 403, origin);
  }
  for (const origin of ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:5173"]) {
    assert.equal((await app.inject(chat({ origin }))).statusCode, 200, origin);
  }
  const keyed = createEdge().app;
  const answer = await keyed.inject(
    chat({ origin: "https://app.example", authorization: "Bearer client-key" }),
  );
  assert.equal(answer.statusCode, 200);
});

test("many wrong keys end in 429 while a valid key goes on working", async () => {
  const { app } = createEdge();
  const statuses = new Set<number>();
  for (let times = 0; times < 60; times++) {
    const answer = await app.inject(chat({ authorization: "Bearer wrong" }));
    statuses.add(answer.statusCode);
    if (answer.statusCode !== 429) continue;
    const wait = Number(answer.headers["retry-after"]);
    assert.ok(wait >= 1 && wait <= 60);
  }
  assert.deepEqual([...statuses], [401, 429]);
  assert.equal((await app.inject(chat({ authorization: "Bearer client-key" }))).statusCode, 200);
});
