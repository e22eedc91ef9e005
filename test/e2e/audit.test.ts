import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete, send } from "./support/client.ts";
import { approvals, as, ORDERS, PEOPLE, startShop } from "./support/shop.ts";
import { whole } from "./support/upstream.ts";

interface Entry {
  id: string;
  at: string;
  action: string;
  actor: string;
  target: string;
  request_id: string | null;
  details: Record<string, unknown>;
}

type Gateway = Awaited<ReturnType<typeof startShop>>["gateway"];

async function audit(gateway: Gateway, query = "", headers: Record<string, string> = as("admin")) {
  const answer = await fetch(`${gateway.url}/audit${query}`, { headers });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}

const listed = async (gateway: Gateway, query?: string): Promise<Entry[]> =>
  JSON.parse((await audit(gateway, query)).text).data;

test("who changed a tool, decided about a call, elevated a session or made a key is on record", async (t) => {
  const { gateway, upstream, tools } = await startShop(t, PEOPLE);
  const start = (await listed(gateway)).length;
  const admin = as("admin");
  const definition = {
    level: "read",
    description: "When asked.",
    http: { method: "GET", url: tools.urlOf("find_it") },
  };
  await send(gateway, "/tools", { name: "find_it", ...definition }, admin);
  await send(gateway, "/tools/find_it", { ...definition, description: "When needed." }, admin, "PUT");
  await send(gateway, "/tools/find_it/rollback", { version: 1 }, admin);
  await send(gateway, "/sessions/s-1?caller=app", { admin_until: "2030-01-31T12:00:00Z" }, admin, "PATCH");
  await send(gateway, "/sessions/s-1?caller=app", { state: { a: 1 } }, admin, "PATCH");
  const made = (await (await send(gateway, "/keys", { name: "new" }, admin)).json()) as {
    id: string;
    key: string;
  };
  await fetch(`${gateway.url}/keys/${made.id}`, { method: "DELETE", headers: admin });
  upstream.script("m", [whole(ORDERS)]);
  const { toolweir } = (await complete(gateway, ask("m"), as("app"))).body;
  const [pending] = toolweir.pending_approvals as { id: string }[];
  await approvals(gateway, `/${pending?.id}/deny`, { reason: "secret reason" }, as("boss"));
  await fetch(`${gateway.url}/tools/find_it`, { method: "DELETE", headers: admin });

  const records = (await listed(gateway)).slice(start);
  assert.deepEqual(
    records.map(({ action, target }) => [action, target]),
    [
      ["tool.created", "find_it"],
      ["tool.changed", "find_it"],
      ["tool.rolled_back", "find_it"],
      ["session.elevated", "s-1"],
      ["key.created", "new"],
      ["key.revoked", "new"],
      ["approval.denied", pending?.id],
      ["tool.deleted", "find_it"],
    ],
  );
  for (const { at, actor } of records) {
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    assert.ok(actor.length > 0);
  }
  assert.equal(records[2]?.details["to"], 1);
  const text = JSON.stringify(records);
  for (const secret of [made.key, "When needed", "secret reason", "Oslo"]) assert.ok(!text.includes(secret));
});

test("what was refused is not on record", async (t) => {
  const { gateway } = await startShop(t, PEOPLE);
  const before = await listed(gateway);
  const refused = [
    await send(gateway, "/tools", { name: "bad" }, as("admin")),
    await send(gateway, "/tools", { name: "bad" }, as("app")),
    await fetch(`${gateway.url}/tools/nobody`, { method: "DELETE", headers: as("admin") }),
    await send(gateway, "/sessions/s-2", { admin_until: "2030-01-31T12:00:00Z" }, as("app"), "PATCH"),
  ];
  for (const { status } of refused) assert.ok(status >= 400);
  assert.deepEqual(await listed(gateway), before);
});

test("the log is read from a time or a record on, as JSON or line by line, by administrators only", async (t) => {
  const { gateway, tools } = await startShop(t, PEOPLE);
  const definition = {
    level: "read",
    description: "When asked.",
    http: { method: "GET", url: tools.urlOf("find_it") },
  };
  for (const name of ["find_a", "find_b", "find_c"])
    await send(gateway, "/tools", { name, ...definition }, as("admin"));
  const all = await listed(gateway);
  const [first] = all;
  assert.ok(first && all.length >= 2);
  assert.deepEqual(await listed(gateway, `?since=${first.id}`), all.slice(1));
  assert.deepEqual(await listed(gateway, `?since=${encodeURIComponent(first.at)}&limit=1`), [first]);
  assert.deepEqual(await listed(gateway, "?since=2100-01-01"), []);
  const lines = await audit(gateway, "", { ...as("admin"), accept: "application/x-ndjson" });
  assert.match(lines.type ?? "", /^application\/x-ndjson\b/);
  assert.deepEqual(
    lines.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
    all,
  );
  for (const query of ["?since=never", "?limit=0", "?limit=x", "?before=1", "?since=1&since=2"])
    assert.equal((await audit(gateway, query)).status, 400, query);
  assert.equal((await audit(gateway, "", as("app"))).status, 403);
  assert.equal((await audit(gateway, "", {})).status, 401);
});
