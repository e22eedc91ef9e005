import type { KeptTurn, KeptTurnStore } from "../../src/engine/ports/stores.ts";

/** A store of kept turns in memory, without expiry. */
export function fakeKeptTurns(): KeptTurnStore & {
  kept: { owner: string; turn: KeptTurn; ttlMs: number }[];
} {
  const kept: { owner: string; turn: KeptTurn; ttlMs: number }[] = [];
  return {
    kept,
    async keep(owner, turn, ttlMs) {
      kept.push({ owner, turn: structuredClone(turn), ttlMs });
    },
    async find(owner, id) {
      return kept.findLast((one) => one.owner === owner && one.turn.clientCallIds.includes(id))?.turn;
    },
  };
}
