import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Stores } from "../engine/ports/stores.ts";
import { memoryRates } from "./memory-rates.ts";
import { AUDIT_TABLE, sqliteAudit } from "./sqlite-audit.ts";
import { sqliteDocuments } from "./sqlite-documents.ts";
import { guarded } from "./sqlite-guard.ts";
import { sqliteKeptTurns } from "./sqlite-kept-turns.ts";
import { LEDGER_TABLE, sqliteLedger } from "./sqlite-ledger.ts";
import { sqliteTools } from "./sqlite-tools.ts";
import { StoreError } from "./store-error.ts";

/** Each entry takes a file from the `user_version` before it to the next. Entries are only ever added. */
const MIGRATIONS = [
  `CREATE TABLE tool_version (
     name       TEXT NOT NULL,
     version    INTEGER NOT NULL,
     definition TEXT,
     updated_at INTEGER NOT NULL,
     PRIMARY KEY (name, version)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE kept_turn (
     id         INTEGER PRIMARY KEY,
     turn       TEXT NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX kept_turn_by_expiry ON kept_turn (expires_at);
   CREATE TABLE kept_call (
     owner   TEXT NOT NULL,
     call_id TEXT NOT NULL,
     turn_id INTEGER NOT NULL REFERENCES kept_turn (id) ON DELETE CASCADE,
     PRIMARY KEY (owner, call_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX kept_call_by_turn ON kept_call (turn_id);`,
  `CREATE TABLE document (
     kind       TEXT NOT NULL,
     key        TEXT NOT NULL,
     value      TEXT NOT NULL,
     revision   INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     PRIMARY KEY (kind, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX document_by_expiry ON document (expires_at);
   CREATE TABLE document_revision (last INTEGER NOT NULL) STRICT;
   INSERT INTO document_revision VALUES (0);`,
  LEDGER_TABLE,
  AUDIT_TABLE,
] as const;

/** How long a start waits for the process before it to let go of the file. */
const OPEN_WAIT_MS = 1_000;

const JOURNAL_LIMIT_BYTES = 64 * 1024 * 1024;

const pragma = (db: DatabaseSync, text: string): unknown =>
  Object.values(db.prepare(`PRAGMA ${text}`).get() ?? {})[0];

function configure(db: DatabaseSync, inMemory: boolean): void {
  db.exec("PRAGMA locking_mode = EXCLUSIVE");
  const journal = pragma(db, "journal_mode = WAL");
  if (!inMemory && journal !== "wal") throw new Error(`journal_mode is ${String(journal)}, not wal`);
  db.exec(
    "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0",
  );
  db.exec(`PRAGMA journal_size_limit = ${JOURNAL_LIMIT_BYTES}`);
  const expected = {
    synchronous: 2,
    foreign_keys: 1,
    trusted_schema: 0,
    journal_size_limit: JOURNAL_LIMIT_BYTES,
  };
  for (const [name, value] of Object.entries(expected)) {
    const actual = pragma(db, name);
    if (actual !== value) throw new Error(`${name} is ${String(actual)}, not ${value}`);
  }
}

function migrate(db: DatabaseSync): void {
  const from = Number(pragma(db, "user_version"));
  if (from > MIGRATIONS.length) throw new Error(`it was written by a newer version (schema ${from})`);
  MIGRATIONS.slice(from).forEach((migration, index) => {
    // Schema and version number change together or not at all.
    db.exec(`BEGIN IMMEDIATE; ${migration} PRAGMA user_version = ${from + index + 1}; COMMIT`);
  });
}

/** Node's own recursive mkdir never ends where a parent takes no folders and says that there is none, as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder);
}

function openDatabase(file: string): DatabaseSync {
  const inMemory = file === ":memory:";
  if (!inMemory) makeFolder(dirname(resolve(file)));
  const db = new DatabaseSync(file, { timeout: OPEN_WAIT_MS });
  try {
    configure(db, inMemory);
    migrate(db);
    // Nobody else can hold a lock from here on; waiting would stop every stream of the process.
    db.exec("PRAGMA busy_timeout = 0");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Everything durable in one SQLite file, or in memory with `:memory:`.
 *
 * 1. What a resolved promise reported as written survives a crash of the process and of the machine (WAL, `synchronous=FULL`).
 * 2. The file belongs to one process: a second one fails to open it.
 * 3. A file of an older version is brought up to date; one of a newer version is refused.
 *
 * `now` gives Unix milliseconds. Throws a `StoreError` that names the file if it cannot be used. Later failures are
 * `GatewayError` `store_unavailable`.
 */
export function openSqlite(file: string, now: () => number = Date.now): Stores {
  let db: DatabaseSync;
  try {
    db = openDatabase(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = /locked/.test(reason) ? "; is another gateway using it?" : "";
    throw new StoreError(`The store ${file} cannot be opened: ${reason}${hint}`, { cause: error });
  }
  const probe = db.prepare("SELECT count(*) FROM tool_version");
  return {
    tools: sqliteTools(db, now),
    keptTurns: sqliteKeptTurns(db, now),
    documents: sqliteDocuments(db, now),
    ledger: sqliteLedger(db, now),
    audit: sqliteAudit(db, now),
    rates: memoryRates(),
    async ping() {
      guarded(() => probe.get());
    },
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
