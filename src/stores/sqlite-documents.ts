import type { DatabaseSync } from "node:sqlite";
import type { DocumentStore } from "../engine/ports/stores.ts";
import { guarded, transaction } from "./sqlite-guard.ts";

/** Expired documents that one `put` removes at most. More than one, so that the table shrinks; few, so that no stream waits. */
const SWEEP = 50;

/** The documents in an open database. */
export function sqliteDocuments(db: DatabaseSync, now: () => number): DocumentStore {
  const find = db.prepare(
    "SELECT value, revision, expires_at FROM document WHERE kind = ? AND key = ? AND expires_at > ?",
  );
  const sweep = db.prepare(
    `DELETE FROM document WHERE (kind, key) IN
     (SELECT kind, key FROM document WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  );
  const nextRevision = db.prepare("UPDATE document_revision SET last = last + 1 RETURNING last");
  const write = db.prepare(
    "INSERT OR REPLACE INTO document (kind, key, value, revision, expires_at) VALUES (?, ?, ?, ?, ?)",
  );
  const remove = db.prepare("DELETE FROM document WHERE kind = ? AND key = ?");

  const isCurrent = (kind: string, key: string, expected: number | undefined, at: number): boolean =>
    expected === undefined || (find.get(kind, key, at)?.["revision"] ?? 0) === expected;

  return {
    async get(kind, key) {
      const row = guarded(() => find.get(kind, key, now()));
      if (row === undefined) return undefined;
      return {
        value: JSON.parse(String(row["value"])) as unknown,
        revision: Number(row["revision"]),
        expiresAt: Number(row["expires_at"]),
      };
    },
    async put(kind, key, value, { ttlMs, expectedRevision }) {
      const text = JSON.stringify(value);
      return transaction(db, () => {
        const at = now();
        if (!isCurrent(kind, key, expectedRevision, at)) return undefined;
        sweep.run(at, SWEEP);
        const revision = Number(nextRevision.get()?.["last"]);
        write.run(kind, key, text, revision, at + ttlMs);
        return revision;
      });
    },
    async delete(kind, key, expectedRevision) {
      return transaction(db, () => {
        const at = now();
        const there = find.get(kind, key, at) !== undefined;
        if (!there || !isCurrent(kind, key, expectedRevision, at)) return false;
        remove.run(kind, key);
        return true;
      });
    },
  };
}
