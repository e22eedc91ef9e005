import assert from "node:assert/strict";
import { test } from "node:test";
import type { LedgerEntry, LedgerState, LedgerStore } from "../../src/engine/ports/ledger.ts";
import type { OpenStores } from "./store.contract.ts";

/** A call that awaits approval until the time 61,000 unless said otherwise. */
export function sampleEntry(id: string, change: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    id,
    state: "awaiting_approval",
    approval: "level",
    caller: "app",
    sessionId: "s",
    isSessionNamed: false,
    runId: "run_1",
    callId: "call_1",
    user: undefined,
    tool: "create_order",
    level: "write",
    arguments: '{"n":12345678901234567890,"city":"日本"}',
    argumentsHash: "a",
    askedArguments: undefined,
    request: undefined,
    definitionHash: "d",
    requestHash: "r",
    idempotencyKey: "run_1:call_1",
    keyTtlMs: 0,
    fourEyes: false,
    createdAt: 1_000,
    expiresAt: 61_000,
    updatedAt: 1_000,
    decision: undefined,
    decidedBy: undefined,
    decidedAt: undefined,
    reason: undefined,
    attempt: 0,
    firstSentAt: undefined,
    leaseOwner: undefined,
    leaseUntil: 0,
    result: undefined,
    error: undefined,
    resolvedBy: undefined,
    note: undefined,
    ...change,
  };
}

/** What every ledger must do. */
export function ledgerContract(open: OpenStores): void {
  const setup = async () => {
    const clock = { ms: 1_000 };
    return { clock, ledger: (await open(clock)).ledger };
  };
  changeContract(setup);
  timeContract(setup);
}

type Setup = () => Promise<{ clock: { ms: number }; ledger: LedgerStore }>;

const ids = (entries: readonly LedgerEntry[]) => entries.map(({ id }) => id);

function changeContract(setup: Setup): void {
  test("an entry is read as it was written, and an unknown one is undefined", async () => {
    const { ledger } = await setup();
    const entry = sampleEntry("apr_1", { user: "u", decision: "approved", firstSentAt: 3 });
    assert.equal(await ledger.add(entry), true);
    // Members without a value may come back as absent.
    assert.deepEqual(JSON.stringify(await ledger.get("apr_1")), JSON.stringify(entry));
    assert.equal(await ledger.get("apr_2"), undefined);
    assert.equal(await ledger.change("apr_2", { from: ["approved"] }, {}), undefined);
  });

  test("a state changes only from one of the states that were named", async () => {
    const { clock, ledger } = await setup();
    await ledger.add(sampleEntry("a"));
    clock.ms = 2_000;
    assert.equal(
      await ledger.change("a", { from: ["approved", "executing"] }, { state: "failed" }),
      undefined,
    );
    const changed = await ledger.change(
      "a",
      { from: ["awaiting_approval"] },
      { state: "denied", reason: "no" },
    );
    assert.deepEqual(
      [changed?.state, changed?.reason, changed?.updatedAt, changed?.createdAt],
      ["denied", "no", 2_000, 1_000],
    );
    assert.equal(JSON.stringify(await ledger.get("a")), JSON.stringify(changed));
    assert.equal(await ledger.change("a", { from: ["awaiting_approval"] }, { state: "approved" }), undefined);
  });

  test("of many who decide at once one does", async () => {
    const { ledger } = await setup();
    await ledger.add(sampleEntry("a"));
    const decide = (n: number) =>
      ledger.change("a", { from: ["awaiting_approval"] }, { state: n % 2 ? "approved" : "denied" });
    const won = (await Promise.all(Array.from({ length: 50 }, (_, n) => decide(n)))).filter(Boolean);
    assert.equal(won.length, 1);
    assert.equal((await ledger.get("a"))?.state, won[0]?.state);
  });

  test("only the owner of a lease changes what it holds", async () => {
    const { ledger } = await setup();
    await ledger.add(sampleEntry("a", { state: "executing", leaseOwner: "me", leaseUntil: 9_000 }));
    const end = { state: "succeeded" } as const;
    assert.equal(await ledger.change("a", { from: ["executing"], leaseOwner: "other" }, end), undefined);
    const done = await ledger.change("a", { from: ["executing"], leaseOwner: "me" }, end);
    assert.equal(done?.state, "succeeded");
  });
}

function timeContract(setup: Setup): void {
  test("what awaits approval past its time is expired, whoever looks and whoever decides", async () => {
    const { clock, ledger } = await setup();
    await ledger.add(sampleEntry("a", { expiresAt: 5_000 }));
    clock.ms = 4_999;
    assert.deepEqual([(await ledger.get("a"))?.state, await ledger.countPending()], ["awaiting_approval", 1]);
    clock.ms = 5_000;
    assert.deepEqual([(await ledger.get("a"))?.state, await ledger.countPending()], ["expired", 0]);
    const states = async (...wanted: LedgerState[]) => ids(await ledger.list({ states: wanted, limit: 9 }));
    assert.deepEqual([await states("expired"), await states("awaiting_approval")], [["a"], []]);
    assert.equal(await ledger.change("a", { from: ["awaiting_approval"] }, { state: "approved" }), undefined);
    assert.deepEqual(ids(await ledger.expire()), ["a"]);
    assert.deepEqual(await ledger.expire(), []);
    clock.ms = 1_000;
    assert.equal((await ledger.get("a"))?.state, "expired");
  });

  test("a list is newest first, bounded, and of what was asked for", async () => {
    const { ledger } = await setup();
    await ledger.add(sampleEntry("a", { createdAt: 1, caller: "x", runId: "r1" }));
    await ledger.add(sampleEntry("b", { createdAt: 2, caller: "y", runId: "r1" }));
    await ledger.add(sampleEntry("c", { createdAt: 3, caller: "x", state: "denied" }));
    assert.deepEqual(ids(await ledger.list({ limit: 2 })), ["c", "b"]);
    assert.deepEqual(ids(await ledger.list({ caller: "x", limit: 9 })), ["c", "a"]);
    assert.deepEqual(ids(await ledger.list({ runId: "r1", limit: 9 })), ["b", "a"]);
    assert.deepEqual(ids(await ledger.list({ caller: "x", states: ["denied"], limit: 9 })), ["c"]);
  });

  test("the calls of a caller that may await approval are bounded, those of others do not count", async () => {
    const { clock, ledger } = await setup();
    assert.equal(await ledger.add(sampleEntry("a", { expiresAt: 2_000 }), 2), true);
    assert.equal(await ledger.add(sampleEntry("b"), 2), true);
    assert.equal(await ledger.add(sampleEntry("c"), 2), false);
    assert.equal(await ledger.get("c"), undefined);
    assert.equal(await ledger.add(sampleEntry("d", { caller: "other" }), 2), true);
    assert.equal(await ledger.countPending(), 3);
    clock.ms = 2_000;
    assert.equal(await ledger.add(sampleEntry("c"), 2), true);
  });

  test("what another executor left behind is unknown, unless its tool knows the key; approved calls are open", async () => {
    const { clock, ledger } = await setup();
    const sent = { state: "executing", leaseOwner: "gone", firstSentAt: 1_000 } as const;
    await ledger.add(sampleEntry("plain", sent));
    await ledger.add(sampleEntry("keyed", { ...sent, keyTtlMs: 10_000 }));
    await ledger.add(sampleEntry("keyed_long_ago", { ...sent, keyTtlMs: 500 }));
    await ledger.add(sampleEntry("mine", { ...sent, leaseOwner: "me", leaseUntil: 99_000 }));
    await ledger.add(sampleEntry("approved", { state: "approved" }));
    await ledger.add(sampleEntry("waiting"));
    clock.ms = 2_000;
    const { unknown, open: left } = await ledger.recover("me");
    assert.deepEqual(ids(unknown).sort(), ["keyed_long_ago", "plain"]);
    assert.deepEqual(ids(left).sort(), ["approved", "keyed"]);
    assert.equal((await ledger.get("plain"))?.state, "outcome_unknown");
    assert.equal((await ledger.get("mine"))?.state, "executing");
    assert.deepEqual(ids((await ledger.recover("me")).unknown), []);
  });

  test("what has ended is forgotten in time, an unknown outcome is not", async () => {
    const { clock, ledger } = await setup();
    await ledger.add(sampleEntry("ended", { state: "succeeded" }));
    await ledger.add(sampleEntry("unknown", { state: "outcome_unknown" }));
    clock.ms = 31 * 24 * 60 * 60 * 1000;
    await ledger.add(sampleEntry("new", { expiresAt: clock.ms + 1 }));
    assert.deepEqual(ids(await ledger.list({ limit: 9 })).sort(), ["new", "unknown"]);
  });
}
