import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolFailure } from "../../../src/engine/ports/tools.ts";
import { GatewayError } from "../../../src/errors.ts";
import { BOSS, desk, TTL_MS } from "../../support/desk.ts";
import { fakeTransport, toolNamed, toolReply } from "../../support/engine.ts";

const YES = { kind: "approved" } as const;
const coded = (code: string) => (error: unknown) => error instanceof GatewayError && error.code === code;
const keyed = { level: "write", idempotency: { mode: "key" }, retry: 2, backoff_ms: 0 };

test("other arguments pass the checks again, are what is sent, and the model is told", async () => {
  const { approvals, transport, request, settled } = desk();
  const entry = await request();
  const edit = (args: string) => approvals.decide(entry.id, BOSS, { ...YES, arguments: args });
  await assert.rejects(edit('{"town":"x"}'), coded("invalid_value"));
  await assert.rejects(edit('{"city":7,"n":1}'), coded("invalid_value"));
  const decided = await edit('{"city":"Bergen"}');
  assert.notEqual(decided.requestHash, entry.requestHash);
  const end = await settled(entry);
  assert.deepEqual(
    [end?.state, end?.arguments, end?.askedArguments],
    ["succeeded", '{"city":"Bergen"}', '{"city":"Oslo"}'],
  );
  assert.deepEqual(
    (transport.sent as { args: unknown }[]).map(({ args }) => args),
    [{ city: "Bergen" }],
  );
  assert.equal((await edit('{ "city": "Bergen" }')).state, "succeeded", "the same decision again");
  await assert.rejects(edit('{"city":"Rome"}'), coded("approval_already_decided"));
});

test("an unknown outcome is resolved by somebody who looked, or the call is made again by somebody who takes the risk", async () => {
  const transport = fakeTransport(({ attempt }) => {
    if (transport.sent.length <= 2) throw new ToolFailure("timeout", attempt.callId);
    return toolReply({ done: true });
  });
  const { approvals, request, settled } = desk({ transport });
  const [first, second] = [await request(), await request()];
  await assert.rejects(approvals.resolve(first.id, BOSS, "failed", ""), coded("not_resolvable"));
  for (const { id } of [first, second]) await approvals.decide(id, BOSS, YES);
  const unknown = await settled(first);
  assert.deepEqual([unknown?.state, unknown?.error], ["outcome_unknown", "timeout"]);
  assert.match(`${unknown?.result}`, /may have been carried out/);
  const resolved = await approvals.resolve(first.id, BOSS, "succeeded", "order 17 is there");
  assert.deepEqual([resolved.state, resolved.resolvedBy], ["succeeded", "boss"]);
  assert.match(`${resolved.result}`, /found out that this call was carried out: order 17 is there/);
  await assert.rejects(approvals.resolve(first.id, BOSS, "failed", ""), coded("not_resolvable"));

  await assert.rejects(approvals.retry(second.id, BOSS, false), coded("invalid_value"));
  assert.equal((await approvals.retry(second.id, BOSS, true)).state, "executing");
  const again = await settled(second);
  assert.deepEqual([again?.state, again?.attempt, transport.sent.length], ["succeeded", 2, 3]);
  await assert.rejects(approvals.retry(second.id, BOSS, true), coded("not_resolvable"));
  const keys = transport.sent.map(({ attempt }) => attempt.idempotencyKey);
  assert.equal(keys[1], keys[2]);
});

test("what was approved and not begun is begun after the start, if the time is not over", async () => {
  const { approvals, ledger, clock, transport, request, settled } = desk();
  const approved = { state: "approved", decision: "approved" } as const;
  const [early, late] = [await request(), await request()];
  for (const { id } of [early, late]) await ledger.change(id, { from: ["awaiting_approval"] }, approved);
  await ledger.change(late.id, { from: ["approved"] }, { expiresAt: clock.ms });
  await approvals.tick();
  assert.equal(transport.sent.length, 0, "while the gateway runs, it is left to whoever decided");
  await approvals.recover();
  assert.deepEqual([(await settled(early))?.state, (await settled(late))?.state], ["succeeded", "expired"]);
  clock.ms += TTL_MS;
  await approvals.recover();
  assert.equal(transport.sent.length, 1);
});

test("what another process was at is unknown; a tool that knows keys is asked again, three times at the most", async () => {
  const left = {
    state: "executing",
    leaseOwner: "gone",
    attempt: 1,
    firstSentAt: 1_000_000,
    decision: "approved",
  } as const;
  const plain = desk();
  const entry = await plain.request();
  await plain.ledger.change(entry.id, { from: ["awaiting_approval"] }, left);
  await plain.approvals.recover();
  assert.deepEqual(
    [(await plain.settled(entry))?.state, plain.transport.sent.length],
    ["outcome_unknown", 0],
  );
  assert.equal(plain.notes.at(-1)?.step, "outcome_unknown");

  const knowing = desk({ tool: toolNamed("put", keyed) });
  const [again, spent] = [await knowing.request(), await knowing.request()];
  await knowing.ledger.change(again.id, { from: ["awaiting_approval"] }, left);
  await knowing.ledger.change(spent.id, { from: ["awaiting_approval"] }, { ...left, attempt: 3 });
  await knowing.approvals.recover();
  assert.deepEqual(
    [
      (await knowing.settled(again))?.state,
      (await knowing.settled(spent))?.state,
      knowing.transport.sent.length,
    ],
    ["succeeded", "outcome_unknown", 1],
  );
});

test("a result that the ledger does not take is written down when it does", async () => {
  const { approvals, ledger, request, settled } = desk();
  const entry = await request();
  const { change } = ledger;
  let isFull = false;
  ledger.change = (id, when, what) => {
    if (isFull && when.leaseOwner !== undefined) return Promise.reject(new Error("disk full"));
    return change(id, when, what);
  };
  const decided = approvals.decide(entry.id, BOSS, YES);
  isFull = true;
  await decided;
  assert.equal((await settled(entry))?.state, "executing");
  await approvals.tick().catch(() => {});
  isFull = false;
  await approvals.tick();
  assert.equal((await settled(entry))?.state, "succeeded");
});

test("a gateway that stops begins with nothing more; what is approved stays so", async () => {
  const { approvals, transport, request, settled } = desk();
  const entry = await request();
  approvals.stop();
  assert.equal((await approvals.decide(entry.id, BOSS, YES)).state, "approved");
  assert.deepEqual([(await settled(entry))?.state, transport.sent.length], ["approved", 0]);
});

test("a call that succeeds counts in its session, and writes what its tool says", async () => {
  const tool = toolNamed("put", { level: "write", sets: { last_city: "args.city" } });
  const { approvals, sessions, request, settled } = desk({ tool });
  const entry = await request();
  await approvals.decide(entry.id, BOSS, YES);
  await settled(entry);
  await new Promise((resolve) => setTimeout(resolve, 10));
  const session = await sessions.load({ caller: entry.caller, id: "s" });
  assert.deepEqual(session?.data.state, { last_city: "Oslo" });
  assert.equal(session?.data.tools_used["put"]?.count, 1);
});
