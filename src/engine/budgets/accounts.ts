import { ChangingDocuments } from "../changing-documents.ts";
import type { DocumentStore } from "../ports/stores.ts";
import { endOf, nameOf, type Period } from "./periods.ts";
import { type Amount, NOTHING, plus } from "./prices.ts";

/** What may be used up in a period. */
export interface Ceiling extends Partial<Amount> {
  period: Period;
}

/** Whose budget it is. */
export type AccountScope = "session" | "key";

/** One budget that runs share. */
export interface Account {
  scope: AccountScope;
  /** Of its document. */
  key: string;
  ceilings: readonly Ceiling[];
  /** How long it is kept after its last change. */
  ttlMs: number;
}

/** A ceiling of an account, and how near it is. Of cost or of tokens, as `unit` says. */
export interface Standing {
  scope: AccountScope;
  period: Period;
  unit: keyof Amount;
  limit: number;
  spent: number;
  /** By runs that are under way. */
  held: number;
  /** Unix milliseconds; absent where the period does not end. */
  endsAt: number | undefined;
}

/** A change of an account by one run. */
export interface Booking {
  runId: string;
  /** Used up since the last booking. */
  used: Amount;
  /** Reserved for what comes next, in place of what was; `undefined` nothing more. */
  hold: Amount | undefined;
  /** The run begins: nothing is booked if there is nothing left. */
  isNew: boolean;
}

interface AccountData {
  /** By the name of the day, month or `all`. */
  spent: Record<string, Amount>;
  /** By process. What a process that has died held is forgotten at `until`, in Unix milliseconds. */
  held: Record<string, Amount & { until: number }>;
}

/**
 * What callers and sessions have used up, in the store.
 *
 * 1. A run reserves before it uses, and what is reserved counts for all others. So runs at the same time go beyond a ceiling by no more than
 *    what each of them uses beyond its own reservation.
 * 2. Bookings at the same time are all kept, also those of several processes.
 * 3. What could not be booked because the store failed is booked with the next change of the account by this process.
 */
export class Accounts {
  readonly #documents: ChangingDocuments<AccountData>;
  readonly #now: () => number;
  readonly #process: string;
  readonly #leaseMs: number;
  /** By account and run, what is reserved in this process. */
  readonly #holds = new Map<string, Map<string, Amount>>();
  /** By account. */
  readonly #owed = new Map<string, Amount>();

  /** `now` gives Unix milliseconds; a reservation is one of `process`, and good for `leaseMs`. */
  constructor(documents: DocumentStore, now: () => number, process: string, leaseMs: number) {
    this.#documents = new ChangingDocuments(documents, "account", now);
    this.#now = now;
    this.#process = process;
    this.#leaseMs = leaseMs;
  }

  /**
   * Books what a run does to an account, and says how its ceilings stand after it, without what this run itself holds. Rejects if the store
   * cannot be used.
   */
  async book(account: Account, booking: Booking): Promise<Standing[]> {
    const { key, ttlMs } = account;
    const owed = this.#owed.get(key) ?? NOTHING;
    this.#owed.delete(key);
    let standings: Standing[] = [];
    const used = plus(booking.used, owed);
    try {
      await this.#documents.change(key, ttlMs, (data) => {
        const at = this.#now();
        const spent = addTo(data?.spent ?? {}, used, at);
        const others = othersHeld(data, this.#process, at);
        const mine = this.#held(key, booking.runId);
        standings = standingsOf(account, spent, sum([mine, ...Object.values(others)]), at);
        const isRefused = booking.isNew && standings.some(isFull);
        if (isRefused && used.tokens + used.cost_micros === 0) return undefined;
        const own = isRefused ? mine : plus(mine, this.#hold(key, booking));
        return { spent, held: { ...others, [this.#process]: { ...own, until: at + this.#leaseMs } } };
      });
    } catch (error) {
      this.#hold(key, { ...booking, hold: undefined });
      this.#owed.set(key, plus(this.#owed.get(key) ?? NOTHING, used));
      throw error;
    }
    return standings;
  }

  /** What other runs of this process hold. */
  #held(key: string, runId: string): Amount {
    const holds = this.#holds.get(key) ?? new Map<string, Amount>();
    return sum([...holds].flatMap(([run, amount]) => (run === runId ? [] : [amount])));
  }

  #hold(key: string, { runId, hold }: Booking): Amount {
    const holds = this.#holds.get(key) ?? new Map<string, Amount>();
    if (hold) holds.set(runId, hold);
    else holds.delete(runId);
    if (holds.size > 0) this.#holds.set(key, holds);
    else this.#holds.delete(key);
    return hold ?? NOTHING;
  }
}

/** Whether nothing is left, apart from what may come back of reservations. */
export const isFull = ({ spent, held, limit }: Standing): boolean => spent + held >= limit;

/** Whether nothing is left. */
export const isSpent = ({ spent, limit }: Standing): boolean => spent >= limit;

const sum = (amounts: readonly Amount[]): Amount => amounts.reduce(plus, NOTHING);

function othersHeld({ held }: Pick<AccountData, "held"> = { held: {} }, own: string, at: number) {
  return Object.fromEntries(
    Object.entries(held).filter(([process, { until }]) => process !== own && until > at),
  );
}

/** What was spent in the periods that go on. */
function addTo(spent: Readonly<Record<string, Amount>>, used: Amount, at: number): Record<string, Amount> {
  const periods: readonly Period[] = ["day", "month", "all"];
  return Object.fromEntries(
    periods.map((period) => nameOf(period, at)).map((name) => [name, plus(spent[name] ?? NOTHING, used)]),
  );
}

function standingsOf(
  { scope, ceilings }: Account,
  spent: Readonly<Record<string, Amount>>,
  held: Amount,
  at: number,
): Standing[] {
  return ceilings.flatMap((ceiling) => {
    const { period } = ceiling;
    const used = spent[nameOf(period, at)] ?? NOTHING;
    return (["tokens", "cost_micros"] as const).flatMap((unit) => {
      const limit = ceiling[unit];
      if (limit === undefined) return [];
      const endsAt = endOf(period, at);
      return [{ scope, period, unit, limit, spent: used[unit], held: held[unit], endsAt }];
    });
  });
}
