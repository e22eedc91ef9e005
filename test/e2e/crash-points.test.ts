import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ask, complete } from "./support/client.ts";
import { type LedgerWorld, startLedgerWorld } from "./support/ledger-world.ts";
import type { GatewayProcess } from "./support/process.ts";
import { approvals, settled } from "./support/shop.ts";

const order = (tool: string, place: string) =>
  ask("m", { messages: [{ role: "user", content: `${tool} ${place}` }] });

async function pendingIn(gateway: GatewayProcess, tool: string, place: string): Promise<string> {
  const { body } = await complete(gateway, order(tool, place));
  return body.toolweir.pending_approvals[0].id;
}

/** Asks for a call, approves it in a process that dies at a point, and gives the approval after the next start. */
async function crashedAt(world: LedgerWorld, point: string, tool: string) {
  const before = world.requests.length;
  const gateway = await world.start({ TOOLWEIR_CRASH_AT: point });
  const id = await pendingIn(gateway, tool, point);
  await approvals(gateway, `/${id}/approve`, {}).catch(() => {});
  await gateway.exit(20_000);
  const [entry] = world.ledger().filter((one) => one.id === id);
  assert.equal(entry?.decision, "approved", "the decision survives");
  const next = await world.start();
  const approval = await settled(next, id);
  next.signal("SIGKILL");
  await next.exit();
  const sent = world.requests.slice(before);
  return {
    status: approval.status,
    sent: sent.length,
    effects: world.effects.filter(({ place }) => place === point),
  };
}

suite("a gateway that dies", { concurrency: 2 }, () => {
  for (const [point, tool, status, sends, effects] of [
    ["after_decision", "create_order", "succeeded", 1, 1],
    ["after_intent", "create_order", "outcome_unknown", 0, 0],
    ["after_send", "create_order", "outcome_unknown", 1, 1],
    ["after_answer", "create_order", "outcome_unknown", 1, 1],
    ["after_commit", "create_order", "succeeded", 1, 1],
    ["after_intent", "pay_order", "succeeded", 1, 1],
    ["after_send", "pay_order", "succeeded", 2, 1],
    ["after_answer", "pay_order", "succeeded", 2, 1],
  ] as const) {
    test(`${point} of an approved ${tool} leaves ${status}, and ${effects} done`, async (t) => {
      const world = await startLedgerWorld(t);
      world.workMs = point === "after_send" ? 2_000 : 0;
      const left = await crashedAt(world, point, tool);
      assert.deepEqual([left.status, left.sent, left.effects.length], [status, sends, effects]);
    });
  }

  test("while a call waits changes nothing about it", async (t) => {
    const world = await startLedgerWorld(t);
    const gateway = await world.start();
    const id = await pendingIn(gateway, "create_order", "Oslo");
    const { body: before } = await approvals(gateway, `/${id}`);
    gateway.signal("SIGKILL");
    await gateway.exit();
    const next = await world.start();
    const { body: after } = await approvals(next, `/${id}`);
    assert.deepEqual(after, before);
    await approvals(next, `/${id}/approve`, {});
    assert.equal((await settled(next, id)).status, "succeeded");
    const resumed = await fetch(`${next.url}/runs/${before.run_id}/resume`, { method: "POST" });
    const body = JSON.parse(await resumed.text());
    assert.equal(body.choices[0].message.content, "Done.");
    assert.equal(world.requests.length, 1);
  });
});
