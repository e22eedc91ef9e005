import type { Usage } from "../../core/protocol/wire.ts";
import { type Account, type Accounts, isFull, isSpent, type Standing } from "./accounts.ts";
import { type Amount, amountOf, NOTHING, type Price, plus, type TokenCounts, tokenCounts } from "./prices.ts";

/** What a run has used up, as its record says it. */
export interface SpendRecord extends Amount {
  /** Rounds whose tokens nobody told, so that what was reserved for them counts. */
  estimated_rounds?: number;
  /** Whose budget was spent in it. */
  spent?: "run" | "session" | "key";
}

/** What a run begins with. */
export interface SpendOptions {
  runId: string;
  model: string;
  prices: readonly Price[];
  /** What this run alone may use. */
  ceiling: Partial<Amount>;
  accounts: readonly Account[];
  /** What the first round is expected to use. */
  expected: TokenCounts;
  /** The tokens have to be known also where no budget bounds them. */
  isMetered: boolean;
}

/** Tokens that are reserved for one round at most, of each kind. */
const MAX_EXPECTED = 128_000;

/**
 * What one run uses up, and what it may.
 *
 * 1. A round counts with what the upstream says of it. Where it says nothing, or the client left before it could, what was reserved counts.
 * 2. What a round has used is booked before the next one, for which as much is reserved as the last one shows.
 */
export class RunSpend {
  readonly #options: SpendOptions;
  readonly #accounts: Accounts;
  #expected: TokenCounts;
  #used: Amount = NOTHING;
  #unbooked: Amount = NOTHING;
  #estimated = 0;
  #standings: readonly Standing[] = [];

  constructor(accounts: Accounts, options: SpendOptions) {
    this.#accounts = accounts;
    this.#options = options;
    this.#expected = options.expected;
  }

  /** Whether upstreams have to be asked for the usage. */
  get isMetered(): boolean {
    const { ceiling, accounts, isMetered } = this.#options;
    const { tokens, cost_micros } = ceiling;
    return isMetered || accounts.length > 0 || tokens !== undefined || cost_micros !== undefined;
  }

  /** What it has used so far. */
  get used(): Amount {
    return this.#used;
  }

  /** Whose budget is spent: no further round but the last one. */
  get spent(): "run" | "session" | "key" | undefined {
    const { tokens = Infinity, cost_micros = Infinity } = this.#options.ceiling;
    if (this.#used.tokens >= tokens || this.#used.cost_micros >= cost_micros) return "run";
    return this.#standings.find(isSpent)?.scope;
  }

  /** What stands in the run's record. */
  get record(): SpendRecord {
    const { spent } = this;
    return {
      ...this.#used,
      ...(this.#estimated > 0 && { estimated_rounds: this.#estimated }),
      ...(spent && { spent }),
    };
  }

  /** Reserves for the first round. Gives the standings of the account that has nothing left, if one has; then nothing is reserved. */
  async begin(): Promise<readonly Standing[] | undefined> {
    const begun: Account[] = [];
    for (const account of this.#options.accounts) {
      const standings = await this.#book(account, this.#hold(), true);
      if (standings.some(isFull)) {
        for (const one of begun) await this.#book(one, undefined);
        return standings;
      }
      begun.push(account);
      this.#standings = [...this.#standings, ...standings];
    }
    return undefined;
  }

  /** How the budgets stood when they were last looked at. */
  get standings(): readonly Standing[] {
    return this.#standings;
  }

  /** A completion has come whole. */
  completed(usage: Usage | undefined): void {
    const counts = tokenCounts(usage);
    this.#add(counts ?? this.#expected, counts === undefined);
    if (!counts) return;
    const { input, output } = counts;
    this.#expected = { ...this.#expected, input: Math.min(input + output, MAX_EXPECTED) };
  }

  /** A completion has broken off when the model server had begun it, as far as one can know. */
  broken(): void {
    this.#add(this.#expected, true);
  }

  /** Books what was used and reserves for the next round. A store that fails now is no reason to end a run: it is booked later. */
  async renew(): Promise<void> {
    await this.#bookAll(this.#hold());
  }

  /** Books what was used, and gives back what was reserved. Never rejects. */
  async close(): Promise<void> {
    await this.#bookAll(undefined);
  }

  #add(counts: TokenCounts, isEstimated: boolean): void {
    const { prices, model } = this.#options;
    const amount = amountOf(prices, model, counts);
    if (isEstimated) this.#estimated++;
    this.#used = plus(this.#used, amount);
    this.#unbooked = plus(this.#unbooked, amount);
  }

  #hold(): Amount {
    return amountOf(this.#options.prices, this.#options.model, this.#expected);
  }

  async #bookAll(hold: Amount | undefined): Promise<void> {
    const booked: Standing[] = [];
    const used = this.#unbooked;
    this.#unbooked = NOTHING;
    for (const account of this.#options.accounts) {
      const before = this.#standings.filter(({ scope }) => scope === account.scope);
      booked.push(...(await this.#book(account, hold, false, used).catch(() => before)));
    }
    this.#standings = booked;
  }

  #book(account: Account, hold: Amount | undefined, isNew = false, used = NOTHING): Promise<Standing[]> {
    return this.#accounts.book(account, { runId: this.#options.runId, used, hold, isNew });
  }
}

/** What a request is expected to use: a token for four bytes, and what it may be answered at most. */
export function expectedTokens(bytes: number, request: Readonly<Record<string, unknown>>): TokenCounts {
  const [given] = ["max_completion_tokens", "max_tokens"].flatMap((member) => {
    const value = request[member];
    return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? [value] : [];
  });
  const choices = typeof request["n"] === "number" && request["n"] > 1 ? request["n"] : 1;
  const capped = (tokens: number) => Math.min(Math.ceil(tokens), MAX_EXPECTED);
  return { input: capped(bytes / 4), output: capped((given ?? DEFAULT_OUTPUT) * choices) };
}

/** Tokens of an answer where the request sets no bound. */
const DEFAULT_OUTPUT = 1_000;
