import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, afterEach, suite, test } from "node:test";
import type { Stores } from "../../src/engine/ports/stores.ts";
import { openStores } from "../../src/stores/open.ts";
import { openSqlite } from "../../src/stores/sqlite.ts";
import { auditContract } from "./audit.contract.ts";
import { documentContract } from "./document.contract.ts";
import { ledgerContract, sampleEntry } from "./ledger.contract.ts";
import {
  keptTurnContract,
  sampleTool,
  sampleTurn,
  storesContract,
  toolStoreContract,
} from "./store.contract.ts";

/** What only a Redis is asked with. */
const REDIS = { process: "p", onProblem() {} };

const folder = mkdtempSync(join(tmpdir(), "toolweir-store-"));
const opened: Stores[] = [];
let files = 0;

const newFile = () => join(folder, `${++files}`, "deep", "toolweir.db");

function track(stores: Stores): Stores {
  opened.push(stores);
  return stores;
}

afterEach(async () => {
  for (const stores of opened.splice(0)) await stores.close();
});
after(() => rmSync(folder, { recursive: true, force: true }));

for (const [name, file] of [
  ["memory", () => ":memory:"],
  ["file", newFile],
] as const) {
  suite(`sqlite in a ${name}`, () => {
    const open = async (clock: { ms: number }) => track(openSqlite(file(), () => clock.ms));
    toolStoreContract(open);
    keptTurnContract(open);
    documentContract(open);
    auditContract(open);
    ledgerContract(open);
    storesContract(open);
  });
}

test("a file that is opened again has everything, and goes on counting", async () => {
  const file = newFile();
  const first = openSqlite(file);
  await first.tools.put(sampleTool("kept"));
  await first.tools.put(sampleTool("gone"));
  await first.tools.delete("gone");
  await first.keptTurns.keep("app", sampleTurn("a"), 60_000);
  await first.ledger.add(sampleEntry("apr_1", { expiresAt: Date.now() + 60_000 }));
  await first.close();
  const second = track(openSqlite(file));
  assert.equal((await second.ledger.get("apr_1"))?.arguments, sampleEntry("apr_1").arguments);
  assert.deepEqual(
    (await second.tools.list()).map(({ definition }) => definition.name),
    ["kept"],
  );
  assert.deepEqual(await second.keptTurns.find("app", "a"), sampleTurn("a"));
  assert.ok(((await second.tools.put(sampleTool("gone")))?.definition.version ?? 0) > 1);
});

test("a second process that opens the file is turned away with a reason", async () => {
  const file = newFile();
  const holder = track(openSqlite(file));
  assert.throws(() => openSqlite(file), /cannot be opened: .*locked.*another gateway/);
  await holder.tools.put(sampleTool("still_works"));
});

test("a file of a newer version, or no database at all, is refused and left alone", () => {
  const newer = join(folder, "newer.db");
  const db = new DatabaseSync(newer);
  db.exec("PRAGMA user_version = 9999");
  db.close();
  assert.throws(() => openSqlite(newer), /newer version/);
  const text = join(folder, "text.db");
  writeFileSync(text, "not a database, but long enough to look like a damaged one ".repeat(20));
  const { size } = statSync(text);
  assert.throws(() => openSqlite(text), /text\.db cannot be opened/);
  assert.equal(statSync(text).size, size);
});

test("expired turns leave the file in bounded steps", async () => {
  const file = newFile();
  const clock = { ms: 0 };
  const stores = openSqlite(file, () => clock.ms);
  for (let n = 0; n < 60; n++) await stores.keptTurns.keep("app", sampleTurn(`call_${n}`), 10);
  clock.ms = 1_000;
  await stores.keptTurns.keep("app", sampleTurn("fresh"), 10);
  await stores.close();
  const db = new DatabaseSync(file);
  const count = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"];
  assert.deepEqual([count("kept_turn"), count("kept_call")], [11, 11]);
  db.close();
});

test("the URL of a store says which one it is", async () => {
  const file = newFile();
  await (await openStores(`sqlite:${file}`, REDIS)).close();
  assert.ok(statSync(file).isFile());
  await (await openStores("memory:", REDIS)).ping();
  await assert.rejects(openStores("redis://:hunter2@a,b", REDIS), /cannot be read: several hosts/);
  await assert.rejects(
    openStores("postgres://u:hunter2@host", REDIS),
    (error: Error) => !error.message.includes("hunter2"),
  );
});
