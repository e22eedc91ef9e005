import type { Config } from "./config.ts";
import { Spending } from "./engine/budgets/spending.ts";
import { newId } from "./engine/new-id.ts";
import type { Stores } from "./engine/ports/stores.ts";
import { RunBook } from "./engine/run-record.ts";
import { SessionBook } from "./engine/sessions/session-book.ts";

/** The caller behind the admin key, whom no budget concerns. */
const ADMIN = "admin";
/** A run is over this long after its time. */
const LEASE_GRACE_MS = 120_000;

/** What is written down of runs and sessions, and of what they use. */
export function openBooks(config: Config, stores: Stores) {
  return {
    book: new RunBook(),
    sessions: new SessionBook(stores.documents, Date.now, config.sessions.ttl_s * 1_000),
    spending: spendingOf(config, stores),
  };
}

/** Counts what runs use, where that has a price or a bound. */
function spendingOf(
  { budgets, prices, limits, sessions }: Config,
  { documents }: Stores,
): Spending | undefined {
  const { run, session, key, keys } = budgets;
  const ceilings = [run, session, ...[key, ...Object.values(keys)].flatMap(({ day, month }) => [day, month])];
  if (prices.length === 0 && ceilings.every((ceiling) => Object.keys(ceiling).length === 0)) return undefined;
  return new Spending({
    documents,
    budgets: { run, session, ofKey: (name) => (name === ADMIN ? {} : (keys[name] ?? key)) },
    prices,
    sessionTtlMs: sessions.ttl_s * 1_000,
    leaseMs: limits.run_ms + LEASE_GRACE_MS,
    process: newId("proc_"),
    now: Date.now,
  });
}
