/** Faulty requests of keys that are neither a plain client's nor the admin's. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { ask, complete, send } from "./support/client.ts";
import { approvals, as, ORDERS, SAYS, settled, startShop } from "./support/shop.ts";
import { whole } from "./support/upstream.ts";

const file = new URL("../../../shared/faults/bad-inputs.jsonl", import.meta.url);
const OPTIONS = {
  yaml: `auth:
  mode: keys
  keys:
    - { name: other, key: other-key }
    - { name: both, key: requester_with_approve_scope-key, approve: true }
    - { name: boss, key: approver-key, role: approver }
    - { name: keeper, key: tools_admin-key, role: tools_admin }`,
  env: { TOOLWEIR_ADMIN_KEY: "admin-key" },
};

interface Row {
  id: string;
  name: string;
  method: string;
  path: string;
  auth: string;
  headers: Record<string, string>;
  body: { json: unknown } | null;
  expect: { status: number[]; code?: string[]; never: string[]; also?: string[] };
  setup?: Record<string, unknown>;
}

/** Rows of the same kinds, for where the shared list is not. */
const OWN: Row[] = [
  ["OWN-1", "/tools", "approver", {}, 403, {}],
  [
    "OWN-2",
    "/approvals/$" + "{APPROVAL_PENDING}/approve",
    "requester_with_approve_scope",
    {},
    403,
    { config: {} },
  ],
  ["OWN-3", "/approvals/$" + "{APPROVAL_PENDING}/approve", "approver", {}, 409, { revoke: "it" }],
].map(([id, path, auth, json, status, setup]) => {
  const row = { id, name: "own", method: "POST", path, auth, headers: {}, body: { json }, setup };
  return { ...row, expect: { status: [status], never: ["tool_called"] } } as Row;
});

/** The world that a row is played in, and the approval that it is about. */
async function prepare(t: Parameters<typeof startShop>[0], { path, auth, setup = {} }: Row) {
  const world = await startShop(t, OPTIONS, "config" in setup ? { four_eyes: true } : {});
  const { gateway, upstream } = world;
  const made = await send(gateway, "/keys", { name: "app" }, as("admin"));
  const { id: keyId, key } = (await made.json()) as { id: string; key: string };
  const client = { authorization: `Bearer ${key}` };
  let id = "";
  if (path.includes("{APPROVAL_")) {
    const asker = auth.startsWith("requester") ? as(auth) : client;
    upstream.script("m", [whole(ORDERS)]);
    const { body } = await complete(gateway, ask("m"), { ...asker, "x-toolweir-session": "s1" });
    id = body.toolweir.pending_approvals[0].id;
  }
  if (path.includes("_DONE}")) {
    await approvals(gateway, `/${id}/approve`, {}, as("approver"));
    await settled(gateway, id, as("approver"));
  }
  if (path.includes("_STALE}")) {
    const http = { method: "POST", url: `${world.tools.urlOf("create_order")}?changed=1` };
    const patched = await send(gateway, "/tools/create_order", { http }, as("admin"), "PATCH");
    assert.equal(patched.status, 200);
  }
  if ("revoke" in setup) await send(gateway, `/keys/${keyId}`, undefined, as("admin"), "DELETE");
  if ("close_session" in setup) {
    const closed = await send(gateway, "/sessions/s1", undefined, client, "DELETE");
    assert.equal(closed.status, 204);
  }
  return { world, client, id };
}

async function play(t: Parameters<typeof startShop>[0], row: Row): Promise<void> {
  const { world, client, id } = await prepare(t, row);
  const { gateway, upstream, tools } = world;
  const body = row.body && JSON.parse(repeat(JSON.stringify(row.body.json)));
  const ask = (headers: Record<string, string>) =>
    send(
      gateway,
      row.path.replace(/\$\{APPROVAL_\w+\}/, id),
      body ?? undefined,
      { ...row.headers, ...headers },
      row.method,
    );
  upstream.script("test-model", [whole(SAYS), whole(SAYS)]);
  if (row.setup && "first" in row.setup) await (await ask(client)).text();
  const called = tools.requests.length;
  const times = Number(row.setup?.["parallel"] ?? 1);
  const answers = await Promise.all(Array.from({ length: times }, () => ask(as(row.auth))));
  for (const answer of answers) {
    const text = await answer.text();
    assert.ok(row.expect.status.includes(answer.status), `${answer.status} ${text}`);
    if (row.expect.code) assert.ok(row.expect.code.includes(JSON.parse(text).error.code), text);
    if (row.expect.also?.includes("x-should-retry: false"))
      assert.equal(answer.headers.get("x-should-retry"), "false");
    assert.equal(answer.headers.get("idempotent-replayed"), null);
    assert.ok(!/node_modules|\n\s+at /.test(text));
  }
  if (id !== "") await settled(gateway, id, as("approver"));
  if (row.expect.never.includes("tool_called")) assert.equal(tools.requests.length, called);
  if (row.expect.never.includes("tool_called_twice")) assert.equal(tools.requests.length, 1);
  if (row.expect.never.includes("replayed_other_tenant")) assert.equal(upstream.requests.length, 2);
}

const repeat = (text: string) =>
  text.replace(/\$\{REPEAT:(.):(\d+)\}/g, (_, letter: string, count: string) => letter.repeat(Number(count)));

const KEYS = ["other", "approver", "tools_admin", "metrics", "requester_with_approve_scope"];
const shared = () =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line): Row => JSON.parse(line))
    .filter(({ auth }) => KEYS.includes(auth));

test("keys with a role get the answers that are due, and nothing else happens", async (t) => {
  for (const row of OWN) await t.test(`${row.id} ${row.name}`, (one) => play(one, row));
});

test("keys with a role get the answers of the shared list, and nothing else happens", async (t) => {
  if (!existsSync(file)) return t.skip("../shared/faults is not there");
  const rows = shared();
  assert.ok(rows.length >= 18, `${rows.length} rows`);
  for (const row of rows) await t.test(`${row.id} ${row.name}`, (one) => play(one, row));
});
