import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionBook } from "../../../src/engine/sessions/session-book.ts";
import { openSqlite } from "../../../src/stores/sqlite.ts";

const NAME = { caller: "app", id: "s1" };

test("two hundred changes of one session at the same time are all kept", async (t) => {
  const stores = openSqlite(":memory:");
  t.after(() => stores.close());
  const book = new SessionBook(stores.documents, Date.now, 60_000);
  const other = new SessionBook(stores.documents, Date.now, 60_000);
  const add = (target: SessionBook, at: number) =>
    target.change(NAME, (data) => ({
      ...data,
      state: { ...data.state, [`k${at}`]: at },
      counters: { ...data.counters, runs: data.counters.runs + 1 },
    }));
  await Promise.all(Array.from({ length: 200 }, (_, at) => add(at % 2 ? book : other, at)));
  const kept = await book.load(NAME);
  assert.equal(kept?.data.counters.runs, 200);
  assert.equal(Object.keys(kept?.data.state ?? {}).length, 200);
});
