import type { Config } from "./config.ts";
import { Spending } from "./engine/budgets/spending.ts";
import type { KeyBook } from "./engine/keys/key-book.ts";
import { newId } from "./engine/new-id.ts";
import type { Stores } from "./engine/ports/stores.ts";
import { Rates } from "./engine/rates/rates.ts";
import { ToolLimits } from "./engine/rates/tool-limits.ts";
import { RunBook } from "./engine/run-record.ts";
import { SessionBook } from "./engine/sessions/session-book.ts";
import { SharedRuns } from "./engine/shared-runs.ts";

/** The caller behind the admin key, whom no budget concerns. */
const ADMIN = "admin";
const NONE = {};
/** A run is over this long after its time. */
const LEASE_GRACE_MS = 120_000;

/** What is written down of runs and sessions, and of what they use. */
export function openBooks(config: Config, stores: Stores, keys: KeyBook) {
  return {
    ...openRuns(config, stores),
    sessions: new SessionBook(stores.documents, Date.now, config.sessions.ttl_s * 1_000),
    spending: spendingOf(config, stores),
    ...openRates(config, stores, keys),
  };
}

/** Records of runs, of which other processes on the same store see what has ended. */
function openRuns(
  { runs: { max, max_bytes: bytes } }: Config,
  { documents, tools }: Stores,
): { book: RunBook; sharedRuns: SharedRuns | undefined } {
  const limits = { runs: max, bytes };
  if (!tools.watch) return { book: new RunBook(limits), sharedRuns: undefined };
  const sharedRuns = new SharedRuns(documents);
  return {
    book: new RunBook(limits, ({ owner, record }) => void sharedRuns.keep(owner, record)),
    sharedRuns,
  };
}

/** Counts requests, calls and tokens, where they are bounded. */
function openRates(
  { rates: { keys, key, user, session } }: Config,
  { documents, rates: counters }: Stores,
  stored: KeyBook,
) {
  const ofKey = (name: string) => (name === ADMIN ? NONE : (keys[name] ?? stored.named(name)?.rate ?? key));
  const rates = new Rates({ counters, ofKey, user, session });
  return { rates, toolLimits: new ToolLimits({ documents, counters, rates, now: Date.now }) };
}

/** Counts what runs use, where that has a price or a bound. */
function spendingOf(
  { budgets, prices, limits, sessions, rates }: Config,
  { documents }: Stores,
): Spending | undefined {
  const { run, session, key, keys } = budgets;
  const ceilings = [run, session, ...[key, ...Object.values(keys)].flatMap(({ day, month }) => [day, month])];
  const isMetered = [rates.key, rates.user, rates.session, ...Object.values(rates.keys)].some(
    ({ tokens_per_minute }) => tokens_per_minute !== undefined,
  );
  const isBound = ceilings.some((ceiling) => Object.keys(ceiling).length > 0);
  if (prices.length === 0 && !isBound && !isMetered) return undefined;
  return new Spending({
    documents,
    budgets: { run, session, ofKey: (name) => (name === ADMIN ? {} : (keys[name] ?? key)) },
    prices,
    sessionTtlMs: sessions.ttl_s * 1_000,
    leaseMs: limits.run_ms + LEASE_GRACE_MS,
    isMetered,
    process: newId("proc_"),
    now: Date.now,
  });
}
