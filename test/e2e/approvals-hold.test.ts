import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ask, complete, readEvents } from "./support/client.ts";
import { registerTool } from "./support/gateway.ts";
import { OpenStream } from "./support/open-stream.ts";
import { startProcess } from "./support/process.ts";
import { approvals, ORDERS, SAYS, settled, startShop } from "./support/shop.ts";
import { toolServer } from "./support/tool-server.ts";
import { scriptedUpstream, streamed, whole } from "./support/upstream.ts";

const HOLD = { "x-toolweir-approval": "hold" };
const yaml = (approvalsText: string) => ({
  yaml: `approvals: ${approvalsText}\nkeepalive: { every_ms: 100 }`,
});

/** The id of the approval that a held stream says it waits for. */
async function announced(client: OpenStream): Promise<string> {
  await client.has("pending_approvals");
  return /apr_[0-9a-f]{32}/.exec(client.text)?.[0] ?? "";
}

test("a held stream goes on when the call was approved, in the same answer", async (t) => {
  const { gateway, upstream, tools } = await startShop(t, yaml("{ hold_s: 60 }"));
  upstream.script("m", [streamed(ORDERS), streamed(SAYS)]);
  const client = new OpenStream(gateway, ask("m"), HOLD);
  const id = await announced(client);
  await client.has(": keep-alive");
  assert.equal((await approvals(gateway, `/${id}/approve`, {})).status, 200);
  await client.end();
  const seen = readEvents(client.text);
  assert.deepEqual([seen.content, seen.finish], ["I order it. Done.", "stop"]);
  assert.deepEqual(
    [seen.summary["stop_reason"], seen.summary["pending_approvals"]],
    ["completed", undefined],
  );
  assert.equal(tools.requests.length, 1);
  const told = upstream.of("m")[1]?.body.messages.at(-1);
  assert.match(String(told?.content), /"success":true/);
  const record = await (await fetch(`${gateway.url}/runs/${seen.summary["run_id"]}`)).json();
  const { rounds } = record as { rounds: { calls: { write?: { state: string } }[] }[] };
  assert.equal(rounds[0]?.calls[0]?.write?.state, "succeeded");
  const resumed = await fetch(`${gateway.url}/runs/${seen.summary["run_id"]}/resume`, { method: "POST" });
  assert.equal(resumed.status, 404, "there is nothing to go on with");
});

test("a denial, and the end of the time to decide, are told to the model in the same answer", async (t) => {
  const { gateway, upstream, tools } = await startShop(t, yaml("{ hold_s: 60, ttl_s: 1, mode: hold }"));
  upstream.script("no", [whole(ORDERS), whole(SAYS)]);
  const denied = complete(gateway, ask("no"));
  let list = [];
  while (list.length === 0) list = (await approvals(gateway, "?status=pending")).body.data;
  await approvals(gateway, `/${list[0].id}/deny`, { reason: "no money" });
  assert.equal((await denied).body.choices[0].message.content, "I order it. Done.");
  assert.match(String(upstream.of("no")[1]?.body.messages.at(-1)?.content), /denied this call: no money/);
  upstream.script("late", [whole(ORDERS), whole(SAYS)]);
  const late = await complete(gateway, ask("late"));
  assert.equal(late.body.toolweir.stop_reason, "completed");
  assert.match(
    String(upstream.of("late")[1]?.body.messages.at(-1)?.content),
    /Nobody approved this call in time/,
  );
  const [expired] = (await approvals(gateway, "?status=expired")).body.data;
  const answer = await approvals(gateway, `/${expired.id}/approve`, {});
  assert.deepEqual(
    [answer.status, answer.body.error.code, tools.requests.length],
    [410, "approval_expired", 0],
  );
});

test("a stream that is held for too long ends as one that was not held, and can be gone on with", async (t) => {
  const { gateway, upstream } = await startShop(t, yaml("{ hold_s: 1 }"));
  upstream.script("m", [streamed(ORDERS), whole(SAYS)]);
  const client = new OpenStream(gateway, ask("m"), HOLD);
  const id = await announced(client);
  await client.end();
  const seen = readEvents(client.text);
  assert.deepEqual([seen.finish, seen.summary["stop_reason"]], ["stop", "approval_required"]);
  assert.ok(seen.content.includes(id));
  await approvals(gateway, `/${id}/approve`, {});
  const resumed = await fetch(`${gateway.url}/runs/${seen.summary["run_id"]}/resume`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"stream":false}',
  });
  const body = JSON.parse(await resumed.text());
  assert.equal(body.choices[0].message.content, "Done.");
});

test("a client that leaves takes nothing with it: the call runs after the yes, and its result can be read", async (t) => {
  const { gateway, upstream, tools } = await startShop(t, yaml("{ hold_s: 60 }"));
  upstream.script("m", [streamed(ORDERS), whole(SAYS)]);
  const client = new OpenStream(gateway, ask("m"), HOLD);
  const id = await announced(client);
  client.hangUp();
  while (gateway.app.engine.openRuns > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal((await approvals(gateway, `/${id}/approve`, {})).status, 200);
  const done = await settled(gateway, id);
  assert.deepEqual([done.status, done.result?.success, tools.requests.length], ["succeeded", true, 1]);
});

test("on SIGTERM a held stream ends with its approval, which waits after the next start", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolweir-hold-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const upstream = await scriptedUpstream(t);
  const tools = await toolServer(t);
  upstream.script("m", [streamed(ORDERS)]);
  const env = { TOOLWEIR_UPSTREAM_URL: upstream.baseUrl, TOOLWEIR_STORE: `sqlite:${join(folder, "t.db")}` };
  const gateway = await startProcess(t, { env });
  await gateway.ready(30_000);
  await registerTool(gateway, "create_order", { url: tools.urlOf("create_order"), level: "write" });
  const client = new OpenStream(gateway, ask("m"), HOLD);
  const id = await announced(client);
  const at = gateway.signal("SIGTERM");
  await client.end();
  const seen = readEvents(client.text);
  assert.deepEqual([seen.finish, seen.summary["stop_reason"]], ["stop", "approval_required"]);
  assert.ok(seen.content.includes(id));
  assert.equal(await gateway.exit(10_000), 0);
  assert.ok((gateway.endedAt ?? 0) - at < 4_000);
  const next = await startProcess(t, { env });
  await next.ready(30_000);
  assert.equal((await approvals(next, `/${id}`)).body.status, "pending");
});

test("another mode is refused", async (t) => {
  const { gateway } = await startShop(t);
  const answer = await complete(gateway, ask("m"), { "x-toolweir-approval": "yes" });
  assert.deepEqual([answer.status, answer.body.error.param], [400, "x-toolweir-approval"]);
});
