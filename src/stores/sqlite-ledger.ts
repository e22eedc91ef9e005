import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { LedgerChange, LedgerEntry, LedgerStore } from "../engine/ports/ledger.ts";
import { BATCH, effective, KEPT_MS, knowsKey, SWEEP } from "./ledger-rules.ts";
import { guarded, transaction } from "./sqlite-guard.ts";

/** The table. What is asked for by value has a column of its own, all else stands in `entry`. */
export const LEDGER_TABLE = `CREATE TABLE ledger (
     id          TEXT PRIMARY KEY,
     state       TEXT NOT NULL,
     caller      TEXT NOT NULL,
     run_id      TEXT NOT NULL,
     created_at  INTEGER NOT NULL,
     expires_at  INTEGER NOT NULL,
     updated_at  INTEGER NOT NULL,
     lease_owner TEXT,
     entry       TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX ledger_by_state ON ledger (state, updated_at);
   CREATE INDEX ledger_by_caller ON ledger (caller, state);
   CREATE INDEX ledger_by_run ON ledger (run_id);
   CREATE INDEX ledger_by_time ON ledger (created_at);`;

const ENDED = ["succeeded", "failed", "denied", "expired", "stale", "cancelled"];

type Row = Record<string, unknown>;

/**
 * The ledger in an open database. The file belongs to one process, so a lease of another owner is one of a process that is gone.
 */
export function sqliteLedger(db: DatabaseSync, now: () => number): LedgerStore {
  const rows = statements(db);

  const read = (row: Row | undefined): LedgerEntry | undefined => {
    if (row === undefined) return undefined;
    const entry = JSON.parse(String(row["entry"])) as LedgerEntry;
    return effective(entry, now());
  };

  const write = (before: LedgerEntry, change: LedgerChange): LedgerEntry => {
    const entry = { ...before, ...change, updatedAt: now() };
    const { id, state, expiresAt, updatedAt, leaseOwner = null } = entry;
    rows.update.run(state, expiresAt, updatedAt, leaseOwner, JSON.stringify(entry), id);
    return entry;
  };

  return {
    async add(entry, maxPending) {
      return transaction(db, () => {
        const pending = maxPending === undefined ? 0 : rows.pendingOf(entry.caller, now());
        if (maxPending !== undefined && pending >= maxPending) return false;
        rows.sweep.run(now() - KEPT_MS, SWEEP);
        rows.insert(entry);
        return true;
      });
    },
    async get(id) {
      return guarded(() => read(rows.get.get(id)));
    },
    async list(filter) {
      return guarded(() => listed(db, filter, now()).flatMap((row) => read(row) ?? []));
    },
    async change(id, { from, leaseOwner }, change) {
      return transaction(db, () => {
        const entry = read(rows.get.get(id));
        if (!entry || !from.includes(entry.state)) return undefined;
        if (leaseOwner !== undefined && entry.leaseOwner !== leaseOwner) return undefined;
        return write(entry, change);
      });
    },
    async expire() {
      const due = guarded(() => rows.due.get(now()));
      if (!due) return [];
      return transaction(db, () =>
        rows.allDue.all(now(), BATCH).flatMap((row) => {
          const entry = read(row);
          return entry ? write(entry, { state: "expired" }) : [];
        }),
      );
    },
    async recover(owner) {
      const left = guarded(() => rows.left.get(owner));
      if (!left) return { unknown: [], open: [] };
      return transaction(db, () => {
        const entries = rows.allLeft.all(owner, BATCH).flatMap((row) => read(row) ?? []);
        const open = entries.filter((entry) => entry.state === "approved" || knowsKey(entry, now()));
        const unknown = entries
          .filter((entry) => !open.includes(entry))
          .map((entry) => write(entry, { state: "outcome_unknown", leaseOwner: undefined, leaseUntil: 0 }));
        return { unknown, open };
      });
    },
    async countPending() {
      return guarded(() => rows.pending(now()));
    },
  };
}

function statements(db: DatabaseSync) {
  const pendingOf = db.prepare(
    "SELECT count(*) AS n FROM ledger WHERE caller = ? AND state = 'awaiting_approval' AND expires_at > ?",
  );
  const pending = db.prepare(
    "SELECT count(*) AS n FROM ledger WHERE state = 'awaiting_approval' AND expires_at > ?",
  );
  const insert = db.prepare(
    `INSERT INTO ledger (id, state, caller, run_id, created_at, expires_at, updated_at, lease_owner, entry)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const due = "FROM ledger WHERE state = 'awaiting_approval' AND expires_at <= ?";
  const left = "FROM ledger WHERE state = 'approved' OR (state = 'executing' AND lease_owner IS NOT ?)";
  const ended = ENDED.map((state) => `'${state}'`).join(", ");
  return {
    get: db.prepare("SELECT entry FROM ledger WHERE id = ?"),
    update: db.prepare(
      "UPDATE ledger SET state = ?, expires_at = ?, updated_at = ?, lease_owner = ?, entry = ? WHERE id = ?",
    ),
    sweep: db.prepare(
      `DELETE FROM ledger WHERE id IN (SELECT id FROM ledger WHERE state IN (${ended}) AND updated_at <= ? LIMIT ?)`,
    ),
    due: db.prepare(`SELECT 1 ${due}`),
    allDue: db.prepare(`SELECT entry ${due} LIMIT ?`),
    left: db.prepare(`SELECT 1 ${left}`),
    allLeft: db.prepare(`SELECT entry ${left} LIMIT ?`),
    pendingOf: (caller: string, at: number) => Number(pendingOf.get(caller, at)?.["n"]),
    pending: (at: number) => Number(pending.get(at)?.["n"]),
    insert(entry: LedgerEntry) {
      const { id, state, caller, runId, createdAt, expiresAt, updatedAt } = entry;
      const owner = entry.leaseOwner ?? null;
      insert.run(id, state, caller, runId, createdAt, expiresAt, updatedAt, owner, JSON.stringify(entry));
    },
  };
}

function listed(
  db: DatabaseSync,
  { states, caller, runId, limit }: Parameters<LedgerStore["list"]>[0],
  at: number,
): Row[] {
  const where: string[] = [];
  const values: SQLInputValue[] = [];
  const also = (condition: string, ...given: SQLInputValue[]): void => {
    where.push(condition);
    values.push(...given);
  };
  if (states) {
    const effective =
      "CASE WHEN state = 'awaiting_approval' AND expires_at <= ? THEN 'expired' ELSE state END";
    also(`${effective} IN (${states.map(() => "?").join(", ")})`, at, ...states);
  }
  if (caller !== undefined) also("caller = ?", caller);
  if (runId !== undefined) also("run_id = ?", runId);
  const condition = where.length > 0 ? `WHERE ${where.join(" AND ")}` : "";
  const text = `SELECT entry FROM ledger ${condition} ORDER BY created_at DESC, id DESC LIMIT ?`;
  return db.prepare(text).all(...values, limit);
}
