import type { DatabaseSync } from "node:sqlite";
import type { KeptTurn, KeptTurnStore } from "../engine/ports/stores.ts";
import { guarded, transaction } from "./sqlite-guard.ts";

/** Expired turns that one `keep` removes at most. More than one, so that the table shrinks; few, so that no stream waits. */
const SWEEP = 50;

/** The kept turns in an open database. A client call id that comes again points to the newest turn from then on. */
export function sqliteKeptTurns(db: DatabaseSync, now: () => number): KeptTurnStore {
  const sweep = db.prepare(
    "DELETE FROM kept_turn WHERE id IN (SELECT id FROM kept_turn WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
  );
  const addTurn = db.prepare("INSERT INTO kept_turn (turn, expires_at) VALUES (?, ?)");
  const addCall = db.prepare("INSERT OR REPLACE INTO kept_call (owner, call_id, turn_id) VALUES (?, ?, ?)");
  const find = db.prepare(
    `SELECT turn FROM kept_call JOIN kept_turn ON id = turn_id
     WHERE owner = ? AND call_id = ? AND expires_at > ?`,
  );

  function insert(owner: string, turn: KeptTurn, ttlMs: number): void {
    const at = now();
    sweep.run(at, SWEEP);
    const id = addTurn.run(JSON.stringify(turn), at + ttlMs).lastInsertRowid;
    for (const callId of turn.clientCallIds) addCall.run(owner, callId, id);
  }

  return {
    async keep(owner, turn, ttlMs) {
      transaction(db, () => insert(owner, turn, ttlMs));
    },
    async find(owner, clientCallId) {
      const row = guarded(() => find.get(owner, clientCallId, now()));
      return row === undefined ? undefined : (JSON.parse(String(row["turn"])) as KeptTurn);
    },
  };
}
