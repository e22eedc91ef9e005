import type { LedgerEntry } from "../engine/ports/ledger.ts";

/** What has come to an end is kept for so long, in milliseconds. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** Entries that one `add` removes at most. More than one, so that the store shrinks; few, so that nobody waits. */
export const SWEEP = 20;
/** Entries that one look at what was left behind takes up at most. */
export const BATCH = 10_000;

/** The entry as whoever looks at that time, in Unix milliseconds, sees it: one that awaits approval past its time has expired. */
export function effective(entry: LedgerEntry, now: number): LedgerEntry {
  const isOver = entry.state === "awaiting_approval" && entry.expiresAt <= now;
  return isOver ? { ...entry, state: "expired" } : entry;
}

/** Whether the tool still knows the key of a call, so that it may be sent again under it. `now` in Unix milliseconds. */
export function knowsKey({ keyTtlMs, firstSentAt = 0 }: LedgerEntry, now: number): boolean {
  return keyTtlMs > 0 && now < firstSentAt + keyTtlMs;
}
