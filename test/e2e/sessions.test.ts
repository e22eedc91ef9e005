import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete, send } from "./support/client.ts";
import { type Gateway, registerTool } from "./support/gateway.ts";
import { json } from "./support/tool-server.ts";
import { type Reply, whole } from "./support/upstream.ts";
import { startWorld, type World } from "./support/world.ts";

const KEYS = `
auth:
  mode: keys
  keys:
    - { name: one, key: key-one-0123456789, max_level: admin }
    - { name: two, key: key-two-0123456789, max_level: admin }
`;
const ENV = { TOOLWEIR_ADMIN_KEY: "admin-key-0123456789" };
const as = (key: string, session?: string) => ({
  authorization: `Bearer ${key}`,
  ...(session !== undefined && { "x-toolweir-session": session }),
});
const ADMIN = as("admin-key-0123456789");
const ONE = "key-one-0123456789";
const TWO = "key-two-0123456789";

async function rest(gateway: Gateway, method: string, path: string, headers: object, body?: unknown) {
  const response = await send(gateway, path, body, headers as Record<string, string>, method);
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

/** Registers tools as an administrator: `login` sets state, `orders` asks for it. */
async function shop({ gateway, tools }: World): Promise<void> {
  const put = async (name: string, members: object) => {
    const { status, body } = await rest(gateway, "PUT", `/tools/${name}`, ADMIN, {
      description: `Use ${name} when needed.`,
      parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
      http: { method: "POST", url: tools.urlOf(name) },
      level: "read",
      ...members,
    });
    assert.equal(status, 201, JSON.stringify(body));
  };
  await put("login", { sets: { user: "args.place", token: "result.got.place" } });
  await put("orders", { requires: [{ check: "has(state.user)", message: "Log in first." }] });
  await put("wipe", { level: "admin", confirm: "never" });
}

const calls = (name: string, place = "x"): Reply => ({ calls: [{ name, args: { place } }] });
const DONE: Reply = { text: "Done." };

test("a tool waits for what another one has set, in this session and in no other", async (t) => {
  const world = await startWorld(t, [], { yaml: KEYS, env: ENV });
  const { upstream, gateway, tools } = world;
  await shop(world);
  upstream.script("m", [
    whole(calls("orders")),
    whole(calls("login", "anna")),
    whole(calls("orders")),
    whole(DONE),
  ]);
  const first = await complete(gateway, ask("m"), as(ONE, "s1"));
  assert.deepEqual(
    first.body.toolweir.tools.map((tool: { name: string; ok: boolean }) => [tool.name, tool.ok]),
    [
      ["orders", false],
      ["login", true],
      ["orders", true],
    ],
  );
  assert.match(JSON.stringify(upstream.of("m")[1]?.body.messages), /Log in first/);
  for (const [key, session, ok] of [
    [ONE, "s1", true],
    [ONE, "s2", false],
    [TWO, "s1", false],
    [ONE, undefined, false],
  ] as const) {
    upstream.script("n", [whole(calls("orders")), whole(DONE)]);
    const { body } = await complete(gateway, ask("n"), { ...as(key, session), "x-toolweir-cache": "off" });
    assert.equal(body.toolweir.tools[0].ok, ok, `${key} ${session}`);
  }
  assert.equal(tools.of("orders").length, 2);
  const { body } = await rest(gateway, "GET", "/sessions/s1", as(ONE));
  assert.deepEqual(body.state, { user: "anna", token: "anna" });
  assert.deepEqual([body.caller, body.tools_used.orders.count, body.counters.runs], ["one", 2, 2]);
  assert.equal(body.runs[0].stop_reason, "completed");
});

test("admin tools are offered and run while the session is elevated, which only an administrator can do", async (t) => {
  const world = await startWorld(t, [], { yaml: KEYS, env: ENV });
  const { upstream, gateway, tools } = world;
  await shop(world);
  const run = async (headers: object) => {
    upstream.script("m", [whole(calls("wipe")), whole(DONE)]);
    const { body } = await complete(gateway, ask("m"), headers as Record<string, string>);
    const offered = upstream
      .of("m")
      .at(-2)
      ?.body.tools?.map((tool) => tool.function.name);
    return { ok: body.toolweir.tools[0].ok, offered: offered?.includes("wipe") };
  };
  assert.deepEqual(await run(as(ONE, "s1")), { ok: false, offered: false });
  const own = await rest(gateway, "PATCH", "/sessions/s1", as(ONE), { admin_until: "2099-01-01T00:00:00Z" });
  assert.deepEqual([own.status, own.body.error.code], [403, "insufficient_scope"]);
  const granted = await rest(gateway, "PATCH", "/sessions/s1?caller=one", ADMIN, {
    admin_until: "2099-01-01T00:00:00Z",
  });
  assert.equal(granted.body.admin_until, "2099-01-01T00:00:00.000Z");
  assert.deepEqual(await run(as(ONE, "s1")), { ok: true, offered: true });
  assert.deepEqual(await run(as(TWO, "s1")), { ok: false, offered: false });
  assert.deepEqual(await run({ ...as(TWO, "s9"), "x-toolweir-tools": "wipe" }), { ok: false, offered: true });
  await rest(gateway, "PATCH", "/sessions/s1?caller=one", ADMIN, { admin_until: "2020-01-01T00:00:00Z" });
  assert.deepEqual(await run(as(ONE, "s1")), { ok: false, offered: false });
  assert.equal(tools.of("wipe").length, 1);
});

test("who may see and change which session", async (t) => {
  const { gateway } = await startWorld(t, [], { yaml: KEYS, env: ENV });
  const patch = (path: string, headers: object, body: unknown) => rest(gateway, "PATCH", path, headers, body);
  assert.equal((await patch("/sessions/s1", as(ONE), { state: { a: 1, b: 2 } })).status, 200);
  assert.deepEqual((await patch("/sessions/s1", as(ONE), { state: { a: null, c: 3 } })).body.state, {
    b: 2,
    c: 3,
  });
  await patch("/sessions/s1", as(ONE), { state: { deep: { a: 1, b: { c: 2 } } } });
  const merged = await patch("/sessions/s1", as(ONE), { state: { deep: { a: null, b: { d: 3 } } } });
  assert.deepEqual(merged.body.state, { b: 2, c: 3, deep: { b: { c: 2, d: 3 } } });
  const other = await rest(gateway, "GET", "/sessions/s1", as(TWO));
  assert.deepEqual([other.status, other.body.error.code], [404, "session_not_found"]);
  assert.equal((await rest(gateway, "GET", "/sessions/s1?caller=one", as(TWO))).status, 404);
  assert.equal((await rest(gateway, "GET", "/sessions/s1", ADMIN)).body.caller, "one");
  await patch("/sessions/s1", as(TWO), { state: { x: 1 } });
  const both = await rest(gateway, "GET", "/sessions/s1", ADMIN);
  assert.deepEqual([both.status, both.body.error.code], [409, "session_ambiguous"]);
  assert.equal((await rest(gateway, "GET", "/sessions/s1?caller=two", ADMIN)).body.state.x, 1);
  const unclear = await patch("/sessions/new", ADMIN, { state: {} });
  assert.deepEqual([unclear.status, unclear.body.error.param], [400, "caller"]);
  for (const [body, param] of [
    [{ state: [] }, "state"],
    [{ admin_until: "soon" }, "admin_until"],
    [{ admin: true }, "admin"],
    [{ state: { n: 2 ** 60 } }, "state"],
    [{ state: { text: "x".repeat(70_000) } }, "state"],
    [{ state: JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`) }, "state"],
  ] as const) {
    const { status, body: answer } = await patch("/sessions/s1?caller=one", ADMIN, body);
    assert.deepEqual([status, answer.error.param], [400, param]);
  }
  assert.equal((await rest(gateway, "DELETE", "/sessions/s1", as(ONE))).status, 204);
  assert.equal((await rest(gateway, "GET", "/sessions/s1", as(ONE))).status, 404);
  assert.equal((await rest(gateway, "GET", "/sessions/s1", {})).status, 401);
});

test("200 interleaved sessions of two keys see nothing of each other", async (t) => {
  const world = await startWorld(t, [], { yaml: KEYS, env: ENV });
  const { upstream, gateway, tools } = world;
  await shop(world);
  const sessions = Array.from({ length: 200 }, (_, n) => ({
    key: n % 2 === 0 ? ONE : TWO,
    id: `s${Math.floor(n / 2)}`,
    secret: `secret-${n}-`,
  }));
  const play = async ({ key, id, secret }: (typeof sessions)[number]) => {
    const model = `m-${secret}`;
    upstream.script(model, [whole(calls("login", secret)), whole(calls("orders", "mine")), whole(DONE)]);
    const { body } = await complete(gateway, ask(model), as(key, id));
    assert.equal(body.toolweir.session_id, id);
    upstream.script(model, [whole(calls("orders", "again")), whole({ text: "Bye." })]);
    await complete(gateway, ask(model), as(key, id));
    const seen = JSON.stringify(upstream.of(model).map((request) => request.body));
    const kept = await rest(gateway, "GET", `/sessions/${id}`, as(key));
    assert.deepEqual(kept.body.state, { user: secret, token: secret });
    assert.equal(kept.body.counters.tool_calls, 3);
    const others = `${seen}${JSON.stringify(kept.body)}`.match(/secret-\d+-/g) ?? [];
    assert.deepEqual([...new Set(others)], [secret]);
  };
  await Promise.all(sessions.map(play));
  const bySession = Map.groupBy(tools.of("login"), ({ headers }) => `${headers["x-toolweir-session"]}`);
  assert.equal(bySession.size, 100);
  for (const requests of bySession.values()) assert.equal(requests.length, 2, "one of each key");
});

test("what two requests of one session change at the same time is all kept", async (t) => {
  const world = await startWorld(t, [], {});
  const { upstream, gateway, tools } = world;
  await registerTool(gateway, "note", {
    url: tools.urlOf("note"),
    sets: Object.fromEntries(
      Array.from({ length: 10 }, (_, n) => [
        `k${n}`,
        `args.place == "${n}" ? args.place : (has(state.k${n}) ? state.k${n} : null)`,
      ]),
    ),
  });
  tools.script("note", [json({ ok: true })]);
  await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      upstream.script(`m${n}`, [whole(calls("note", `${n}`)), whole(DONE)]);
      await complete(gateway, ask(`m${n}`), { "x-toolweir-session": "shared" });
    }),
  );
  const { body } = await rest(gateway, "GET", "/sessions/shared", {});
  assert.deepEqual([body.counters.runs, body.counters.tool_calls, body.tools_used.note.count], [10, 10, 10]);
});

test("a call sees what an earlier one of the same answer has set", async (t) => {
  const world = await startWorld(t, [], { yaml: KEYS, env: ENV });
  const { upstream, gateway, tools } = world;
  await shop(world);
  const both = ["login", "orders"].map((name) => ({ name, args: { place: "anna" } }));
  for (const [session, order, ok] of [
    ["s1", both, [true, true]],
    ["s2", both.toReversed(), [false, true]],
    [undefined, both, [true, true]],
  ] as const) {
    upstream.script("m", [whole({ calls: order }), whole(DONE)]);
    const { body } = await complete(gateway, ask("m"), { ...as(ONE, session), "x-toolweir-cache": "off" });
    assert.deepEqual(
      body.toolweir.tools.map((tool: { ok: boolean }) => tool.ok),
      ok,
      `${session}`,
    );
  }
  assert.equal(tools.of("orders").length, 2);
});
