import type { DatabaseSync } from "node:sqlite";
import type { AuditEvent, AuditLog } from "../engine/ports/audit.ts";
import { guarded } from "./sqlite-guard.ts";

/** The table refuses to change or forget what it holds, whoever asks. */
export const AUDIT_TABLE = `CREATE TABLE audit (
     id    INTEGER PRIMARY KEY AUTOINCREMENT,
     at    INTEGER NOT NULL,
     event TEXT NOT NULL
   ) STRICT;
   CREATE INDEX audit_by_time ON audit (at);
   CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'append only'); END;
   CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'append only'); END;`;

/** The audit log in an open database. */
export function sqliteAudit(db: DatabaseSync, now: () => number): AuditLog {
  const add = db.prepare("INSERT INTO audit (at, event) VALUES (?, ?)");
  const read = db.prepare("SELECT id, at, event FROM audit WHERE id > ? AND at >= ? ORDER BY id LIMIT ?");
  return {
    async append(event) {
      guarded(() => add.run(now(), JSON.stringify(event)));
    },
    async list({ after = "0", from = 0, limit }) {
      return guarded(() =>
        read.all(Number.parseInt(after, 10), from, limit).map((row) => ({
          id: String(row["id"]),
          at: Number(row["at"]),
          ...(JSON.parse(String(row["event"])) as AuditEvent),
        })),
      );
    },
  };
}
