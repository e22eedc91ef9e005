import assert from "node:assert/strict";
import { test } from "node:test";
import { type Account, Accounts, type Booking } from "../../../src/engine/budgets/accounts.ts";
import type { DocumentStore } from "../../../src/engine/ports/stores.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";

const NOON = Date.UTC(2026, 0, 31, 12);
const account = (period: "day" | "month" | "all", tokens: number): Account => ({
  scope: "key",
  key: "k",
  ceilings: [{ period, tokens }],
  ttlMs: 40 * 86_400_000,
});
const amount = (tokens: number) => ({ tokens, cost_micros: 0 });
const booking = (runId: string, used: number, hold?: number, isNew = false): Booking => ({
  runId,
  used: amount(used),
  hold: hold === undefined ? undefined : amount(hold),
  isNew,
});

function setup(change: (documents: DocumentStore) => DocumentStore = (same) => same) {
  const clock = { ms: NOON };
  const documents = change(openSqlite(":memory:", () => clock.ms).documents);
  const open = (name: string) => new Accounts(documents, () => clock.ms, name, 60_000);
  return { clock, open };
}

test("what one run holds counts for the others, of every process, until it is given back", async () => {
  const { open } = setup();
  const [one, two] = [open("a"), open("b")];
  const [first] = await one.book(account("day", 100), booking("r1", 0, 100, true));
  assert.deepEqual([first?.spent, first?.held], [0, 0]);
  const [same] = await one.book(account("day", 100), booking("r2", 0, 100, true));
  const [other] = await two.book(account("day", 100), booking("r3", 0, 100, true));
  assert.deepEqual([same?.held, other?.held], [100, 100]);
  await one.book(account("day", 100), booking("r1", 30));
  const [later] = await two.book(account("day", 100), booking("r3", 0, 50, true));
  assert.deepEqual([later?.spent, later?.held], [30, 0]);
});

test("a hundred that begin at the same time hold no more than there is", async () => {
  const { open } = setup();
  const processes = [open("a"), open("b")];
  const begun = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const process = processes[at % 2] ?? open("c");
      const [standing] = await process.book(account("day", 1_000), booking(`r${at}`, 0, 100, true));
      return (standing?.held ?? 0) < 1_000;
    }),
  );
  assert.equal(begun.filter(Boolean).length, 10);
});

test("what a process held that has died is forgotten after its time", async () => {
  const { clock, open } = setup();
  await open("dead").book(account("day", 100), booking("r1", 0, 100, true));
  clock.ms += 59_999;
  const [before] = await open("b").book(account("day", 100), booking("r2", 0, 10, true));
  assert.equal(before?.held, 100);
  clock.ms += 1;
  const [after] = await open("b").book(account("day", 100), booking("r2", 0, 10, true));
  assert.equal(after?.held, 0);
});

test("a day and a month begin anew in UTC, and say when", async () => {
  const { clock, open } = setup();
  const accounts = open("a");
  const of = async (period: "day" | "month" | "all") =>
    (await accounts.book(account(period, 100), booking("r", 0)))[0];
  await accounts.book(account("day", 100), booking("r", 40));
  assert.deepEqual([(await of("day"))?.spent, (await of("day"))?.endsAt], [40, Date.UTC(2026, 1, 1)]);
  clock.ms = Date.UTC(2026, 1, 1);
  assert.deepEqual([(await of("day"))?.spent, (await of("month"))?.spent], [0, 0]);
  assert.equal((await of("month"))?.endsAt, Date.UTC(2026, 2, 1));
  assert.deepEqual([(await of("all"))?.spent, (await of("all"))?.endsAt], [40, undefined]);
});

test("what the store did not take is booked with the next change, once", async () => {
  let broken = false;
  const { open } = setup((documents) => ({
    ...documents,
    async put(...args) {
      if (broken) throw new Error("disk full");
      return documents.put(...args);
    },
  }));
  const accounts = open("a");
  await accounts.book(account("day", 100), booking("r1", 0, 50, true));
  broken = true;
  await assert.rejects(accounts.book(account("day", 100), booking("r1", 20)), /disk full/);
  await assert.rejects(accounts.book(account("day", 100), booking("r2", 0, 10, true)), /disk full/);
  broken = false;
  const [next] = await accounts.book(account("day", 100), booking("r3", 0, 10, true));
  assert.deepEqual([next?.spent, next?.held], [20, 0]);
  const [again] = await accounts.book(account("day", 100), booking("r3", 0));
  assert.equal(again?.spent, 20);
});
