import type { DatabaseSync } from "node:sqlite";
import { GatewayError } from "../errors.ts";

/** Runs a piece of work on the database; whatever it throws comes out as `store_unavailable`, with the fault as its cause. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new GatewayError("store_unavailable", "The gateway's store does not answer. Try again later.", {
      cause: error,
    });
  }
}

/** `guarded`, in one transaction: what the work wrote stands as a whole, or not at all if it throws. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  return guarded(() => {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  });
}
