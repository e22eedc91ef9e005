import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayError } from "../../../src/errors.ts";
import { BOSS, desk, TTL_MS } from "../../support/desk.ts";
import { CALLER, toolNamed } from "../../support/engine.ts";

const YES = { kind: "approved" } as const;
const NO = { kind: "denied" } as const;

const coded = (code: string) => (error: unknown) => error instanceof GatewayError && error.code === code;

test("of fifty who approve at once one does, and the call is made once, a hundred times over", async () => {
  const { approvals, transport, request, settled } = desk();
  for (let round = 1; round <= 100; round++) {
    const entry = await request();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => approvals.decide(entry.id, { ...BOSS, name: `boss${n}` }, YES)),
    );
    const end = await settled(entry);
    assert.deepEqual([end?.state, end?.attempt, transport.sent.length], ["succeeded", 1, round]);
    assert.equal(new Set(answers.map(({ decidedBy }) => decidedBy)).size, 1);
  }
});

test("who approves while the time runs out gets a yes that is carried out, or 410: a thousand times", async () => {
  const { approvals, ledger, clock, transport, request, settled } = desk();
  const counts = { yes: 0, late: 0 };
  for (let n = 0; n < 1_000; n++) {
    const entry = await request();
    clock.ms = entry.expiresAt - 5 + (n % 11);
    const before = transport.sent.length;
    const looks = [ledger.expire(), approvals.tick(), ledger.get(entry.id)];
    const answer = await approvals.decide(entry.id, BOSS, YES).catch((error: GatewayError) => error);
    clock.ms += 20;
    await Promise.all([...looks, approvals.tick()]);
    const end = await settled(entry);
    const isYes = !(answer instanceof Error);
    if (!isYes) assert.equal(answer.code, "approval_expired");
    assert.equal(transport.sent.length - before, isYes ? 1 : 0);
    assert.equal(end?.state, isYes ? "succeeded" : "expired");
    counts[isYes ? "yes" : "late"]++;
  }
  assert.ok(counts.yes > 300 && counts.late > 300, JSON.stringify(counts));
});

test("a decision is final, and the same one again changes nothing", async () => {
  const { approvals, transport, request, settled } = desk();
  const yes = await request();
  await approvals.decide(yes.id, BOSS, { ...YES, reason: "fine" });
  await settled(yes);
  const again = await approvals.decide(yes.id, BOSS, { ...YES, reason: "other" });
  assert.deepEqual([again.state, again.reason, transport.sent.length], ["succeeded", "fine", 1]);
  await assert.rejects(approvals.decide(yes.id, BOSS, NO), coded("approval_already_decided"));
  const no = await request();
  assert.equal((await approvals.decide(no.id, BOSS, NO)).state, "denied");
  assert.equal((await approvals.decide(no.id, BOSS, NO)).state, "denied");
  await assert.rejects(approvals.decide(no.id, BOSS, YES), coded("approval_already_decided"));
  const late = await request({ city: "x" }, { expiresAt: 1 });
  for (const decision of [YES, NO]) {
    await assert.rejects(approvals.decide(late.id, BOSS, decision), coded("approval_expired"));
  }
});

test("a tool that was changed in any way is not the one that was approved; the same definition stored again is", async () => {
  for (const change of [
    { description: "Other words" },
    { http: { method: "POST", url: "https://other.example/" } },
    { level: "admin" },
    { timeout_ms: 5 },
  ]) {
    const { approvals, world, transport, request, settled } = desk();
    const entry = await request();
    world.tools = [toolNamed("put", { level: "write", ...change })];
    await assert.rejects(approvals.decide(entry.id, BOSS, YES), coded("approval_stale"));
    await assert.rejects(approvals.decide(entry.id, BOSS, YES), coded("approval_stale"));
    assert.deepEqual([(await settled(entry))?.state, transport.sent.length], ["stale", 0]);
  }
  const { approvals, world, transport, request, settled } = desk();
  const [gone, kept] = [await request(), await request()];
  world.tools = [];
  await assert.rejects(approvals.decide(gone.id, BOSS, YES), coded("approval_stale"));
  const same = toolNamed("put", { level: "write" });
  world.tools = [{ ...same, definition: { ...same.definition, version: 9 } }];
  await approvals.decide(kept.id, BOSS, YES);
  assert.deepEqual([(await settled(kept))?.state, transport.sent.length], ["succeeded", 1]);
});

test("rights that were lost since keep a call from running", async () => {
  for (const callers of [[], [{ ...CALLER, maxLevel: "read" as const }], [{ ...CALLER, tools: ["get_*"] }]]) {
    const { approvals, world, transport, request, settled } = desk();
    const entry = await request();
    world.callers = callers;
    await assert.rejects(approvals.decide(entry.id, BOSS, YES), coded("approval_stale"));
    assert.deepEqual([(await settled(entry))?.state, transport.sent.length], ["cancelled", 0]);
  }
});

test("a session that is over, or not elevated any more, takes its calls with it", async () => {
  const { approvals, request, settled } = desk();
  const entry = await request();
  const other = await request({ city: "x" }, { sessionId: "other" });
  await approvals.sessionClosed(CALLER.name, "s");
  await assert.rejects(approvals.decide(entry.id, BOSS, YES), coded("approval_stale"));
  assert.deepEqual(
    [(await settled(entry))?.state, (await settled(other))?.state],
    ["cancelled", "awaiting_approval"],
  );

  const admin = desk({ tool: toolNamed("put", { level: "admin" }) });
  const elevate = (ms: number) =>
    admin.sessions.change({ caller: CALLER.name, id: "s" }, (data) => ({ ...data, admin_until: ms }));
  await elevate(admin.clock.ms + 1_000);
  const [first, second] = [await admin.request(), await admin.request()];
  await admin.approvals.decide(first.id, BOSS, YES);
  assert.equal((await admin.settled(first))?.state, "succeeded");
  admin.clock.ms += 2_000;
  await assert.rejects(admin.approvals.decide(second.id, BOSS, YES), coded("approval_stale"));
  assert.equal(admin.transport.sent.length, 1);
});

test("with four eyes the key that asked may not decide", async () => {
  const { approvals, request } = desk({ tool: toolNamed("put", { level: "write", four_eyes: true }) });
  const entry = await request();
  const self = { name: CALLER.name, mayDecide: true };
  for (const decision of [YES, NO]) {
    await assert.rejects(approvals.decide(entry.id, self, decision), coded("self_approval_refused"));
  }
  assert.equal((await approvals.decide(entry.id, BOSS, NO)).state, "denied");
});

test("what waits too long is written down as expired, and told to whoever counts", async () => {
  const { approvals, ledger, clock, notes, request } = desk();
  const entry = await request();
  clock.ms += TTL_MS;
  await approvals.tick();
  await approvals.tick();
  assert.deepEqual(
    notes.map(({ step }) => step),
    ["requested", "expired"],
  );
  clock.ms = entry.createdAt;
  assert.equal((await ledger.get(entry.id))?.state, "expired", "a clock that goes back changes nothing");
});
