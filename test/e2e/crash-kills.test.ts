/** Kills at moments that nobody chose; `npm run test:kill` does it more often. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sortedJson } from "../../src/core/json/stringify.ts";
import { ask, complete } from "./support/client.ts";
import { type LedgerWorld, startLedgerWorld } from "./support/ledger-world.ts";
import type { GatewayProcess } from "./support/process.ts";
import { approvals } from "./support/shop.ts";

const KILLS = Number(process.env["TOOLWEIR_KILLS"] ?? 10);
const CLIENTS = 4;
const LONGEST_MS = 700;
/** How long a call may look as if it went on after a start: the lease of the process before, and a little. */
const SETTLE_MS = 5_000;

/** What clients were told, which must hold for ever. */
interface Told {
  asked: Set<string>;
  approved: Set<string>;
  denied: Set<string>;
}

let runs = 0;

/** One client until the gateway is gone: runs with writes of every kind, and decisions about what waits. */
async function client(gateway: GatewayProcess, told: Told, isOver: () => boolean): Promise<void> {
  const tools = ["create_order", "log_visit", "pay", "pay_order"];
  while (!isOver()) {
    const content = `${tools[runs % tools.length]} place-${++runs}`;
    await converse(gateway, told, content).catch(() => sleep(5));
  }
}

async function converse(gateway: GatewayProcess, told: Told, content: string): Promise<void> {
  const { body } = await complete(gateway, ask("m", { messages: [{ role: "user", content }] }));
  for (const { id } of body.toolweir?.pending_approvals ?? []) {
    told.asked.add(id);
    const verb = runs % 5 === 0 ? "deny" : "approve";
    const { status } = await approvals(gateway, `/${id}/${verb}`, {});
    if (status === 200) told[verb === "deny" ? "denied" : "approved"].add(id);
  }
}

/** What must hold of the ledger and of what the tools did, at any time. */
function check(world: LedgerWorld, told: Told): void {
  assert.equal(world.integrity(), "ok");
  const entries = world.ledger();
  const byKey = new Map(entries.map((entry) => [entry.idempotencyKey, entry]));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const count = (list: { key: string }[], key: string) => list.filter((one) => one.key === key).length;
  for (const { key, tool, place } of world.requests) {
    const entry = byKey.get(key);
    assert.ok(entry, `${tool} was asked without an intent`);
    assert.equal(entry.arguments, sortedJson({ place: String(place) }), "what was sent is what was stored");
    if (entry.keyTtlMs === 0) assert.equal(count(world.requests, key), 1, `${tool} was asked twice`);
    if (entry.approval !== "none") assert.equal(entry.decision, "approved", `${tool} ran without a yes`);
    assert.equal(count(world.effects, key), 1);
  }
  for (const { state, idempotencyKey, tool } of entries) {
    if (state === "succeeded") assert.equal(count(world.effects, idempotencyKey), 1, `${tool} succeeded`);
    if (state === "denied" || state === "awaiting_approval")
      assert.equal(count(world.effects, idempotencyKey), 0);
  }
  for (const id of told.asked) assert.ok(byId.has(id), "an approval is lost");
  for (const id of told.approved) assert.equal(byId.get(id)?.decision, "approved", "a yes is lost");
  for (const id of told.denied) assert.equal(byId.get(id)?.state, "denied", "a no is lost");
}

/** Nothing that the process before was at stays so. */
async function settle(gateway: GatewayProcess): Promise<void> {
  const open = async () => {
    const lists = await Promise.all(
      ["executing", "approved"].map((status) => approvals(gateway, `?status=${status}`)),
    );
    return lists.flatMap(({ body }) => body.data).length;
  };
  const endsAt = performance.now() + SETTLE_MS;
  while ((await open()) > 0) {
    assert.ok(performance.now() < endsAt, "calls are still open");
    await sleep(50);
  }
}

test(`${KILLS} kills lose nothing, and nothing is done twice`, {
  timeout: 20_000 + KILLS * 10_000,
}, async (t) => {
  const world = await startLedgerWorld(t);
  world.workMs = 30;
  const told: Told = { asked: new Set(), approved: new Set(), denied: new Set() };
  for (let kill = 0; kill < KILLS; kill++) {
    const gateway = await world.start();
    await settle(gateway);
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, () => client(gateway, told, () => isOver));
    await sleep(50 + Math.random() * LONGEST_MS);
    gateway.signal("SIGKILL");
    await gateway.exit();
    isOver = true;
    await Promise.all(clients);
    check(world, told);
  }
  const last = await world.start();
  await settle(last);
  last.signal("SIGKILL");
  await last.exit();
  check(world, told);
  const unknown = world.ledger().filter(({ state }) => state === "outcome_unknown");
  t.diagnostic(`${runs} runs, ${world.requests.length} requests, ${unknown.length} unknown outcomes`);
});
