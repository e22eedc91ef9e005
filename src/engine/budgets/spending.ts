import { hash } from "node:crypto";
import type { ChatRequest } from "../../core/protocol/wire.ts";
import { GatewayError } from "../../errors.ts";
import { durationText } from "../duration-text.ts";
import type { DocumentStore } from "../ports/stores.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { type Account, Accounts, isFull, isSpent, type Standing } from "./accounts.ts";
import type { Period } from "./periods.ts";
import type { Amount, Price } from "./prices.ts";
import { expectedTokens, RunSpend } from "./run-spend.ts";

/** What may be used up in a day and in a month. */
export type KeyBudget = Partial<Record<"day" | "month", Partial<Amount>>>;

/** What runs may use up; what is not said is without bound. */
export interface Budgets {
  run: Partial<Amount>;
  session: Partial<Amount>;
  /** Of a caller, by name. */
  ofKey(caller: string): KeyBudget;
}

export interface SpendingDeps {
  documents: DocumentStore;
  budgets: Budgets;
  prices: readonly Price[];
  sessionTtlMs: number;
  /** A reservation that nobody has given back is forgotten after this time. */
  leaseMs: number;
  /** Tokens are bounded otherwise too, and have to be known of every run. */
  isMetered: boolean;
  /** Another name for every process. */
  process: string;
  /** Unix milliseconds. */
  now(): number;
}

/** A request that is about to begin. */
export interface SpendRequest {
  runId: string;
  caller: string;
  /** Absent where the client named none. */
  session: string | undefined;
  request: ChatRequest;
  /** Of its body. */
  bytes: number;
}

/** What is to be known of a request. */
export interface SpendCall {
  runId: string;
  caller: { readonly name: string };
  sessionId: string;
  isSessionNamed: boolean;
  request: ChatRequest;
  raw: Buffer;
  announce?(headers: Readonly<Record<string, string>>): void;
}

/** The counts of a caller are kept for longer than a month. */
const KEY_TTL_MS = 40 * 24 * 3_600_000;

/** Knows what runs may use up. Plain requests cost nothing here where neither a price nor a budget concerns them. */
export class Spending {
  readonly #deps: SpendingDeps;
  readonly #accounts: Accounts;

  constructor(deps: SpendingDeps) {
    this.#deps = deps;
    this.#accounts = new Accounts(deps.documents, deps.now, deps.process, deps.leaseMs);
  }

  /** Reserves for a run. Throws `insufficient_quota` where a budget is spent, and if the store cannot be used: nothing goes unseen. */
  async open({ runId, caller, session, request, bytes }: SpendRequest): Promise<RunSpend> {
    const { budgets, prices, isMetered } = this.#deps;
    const spend = new RunSpend(this.#accounts, {
      runId,
      model: request.model,
      prices,
      ceiling: budgets.run,
      accounts: [...this.#sessionAccount(caller, session), ...this.#keyAccount(caller)],
      expected: expectedTokens(bytes, request),
      isMetered,
    });
    const full = await spend.begin();
    if (full) throw insufficient(full, this.#deps.now());
    return spend;
  }

  /** The rate headers for an answer, where tokens are bounded in time. */
  headers(spend: RunSpend): Record<string, string> {
    return rateHeaders(spend.standings, this.#deps.now());
  }

  #sessionAccount(caller: string, session: string | undefined): Account[] {
    const { budgets, sessionTtlMs: ttlMs } = this.#deps;
    if (session === undefined || isEmpty(budgets.session)) return [];
    const ceilings = [{ period: "all" as const, ...budgets.session }];
    return [{ scope: "session", key: keyOf("session", caller, session), ceilings, ttlMs }];
  }

  #keyAccount(caller: string): Account[] {
    const budget = this.#deps.budgets.ofKey(caller);
    const ceilings = (["day", "month"] as const).flatMap((period) => {
      const ceiling = budget[period];
      return ceiling && !isEmpty(ceiling) ? [{ period, ...ceiling }] : [];
    });
    if (ceilings.length === 0) return [];
    return [{ scope: "key", key: keyOf("key", caller), ceilings, ttlMs: KEY_TTL_MS }];
  }
}

/** Reserves for a run where that has to be, and counts what is refused. */
export async function openSpend(
  { spending, telemetry }: { spending: Spending | undefined; telemetry: Telemetry },
  call: SpendCall,
): Promise<RunSpend | undefined> {
  if (!spending) return undefined;
  const { runId, caller, request, raw } = call;
  const session = call.isSessionNamed ? call.sessionId : undefined;
  try {
    const spend = await spending.open({ runId, caller: caller.name, session, request, bytes: raw.length });
    call.announce?.(spending.headers(spend));
    return spend;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_quota") telemetry.budgetRefused();
    throw error;
  }
}

const isEmpty = ({ tokens, cost_micros }: Partial<Amount>): boolean =>
  tokens === undefined && cost_micros === undefined;

/** Names come from clients: what they hold stays out of the store's keys. */
const keyOf = (...names: readonly string[]): string => hash("sha256", JSON.stringify(names));

const PERIOD: Readonly<Record<Period, string>> = { day: " a day", month: " a month", all: "" };

function insufficient(standings: readonly Standing[], now: number): GatewayError {
  const spent = standings.find(isSpent);
  const full = spent ?? standings.find(isFull);
  const { scope, limit, unit, period, endsAt } = full as Standing;
  const amount = `${limit} ${unit === "tokens" ? "tokens" : "millionths of a currency unit"}${PERIOD[period]}`;
  const budget = `The budget of this ${scope}, ${amount},`;
  const again = endsAt === undefined ? "" : ` There will be more at ${new Date(endsAt).toISOString()}.`;
  const message = spent
    ? `${budget} is spent.${again}`
    : `${budget} is reserved by requests that are under way. Try again shortly.`;
  return new GatewayError("insufficient_quota", message, {
    headers: {
      ...rateHeaders(standings, now),
      ...(spent ? { "x-should-retry": "false" } : { "retry-after": "1", "x-should-retry": "true" }),
    },
  });
}

/** Of the bound on tokens that is nearest: `x-ratelimit-limit-tokens`, `-remaining-tokens` and `-reset-tokens`. */
function rateHeaders(standings: readonly Standing[], now: number): Record<string, string> {
  const left = ({ limit, spent, held }: Standing) => Math.max(0, limit - spent - held);
  const bounds = standings.filter(({ unit, endsAt }) => unit === "tokens" && endsAt !== undefined);
  const [nearest] = bounds.toSorted((a, b) => left(a) - left(b));
  if (!nearest) return {};
  return {
    "x-ratelimit-limit-tokens": String(nearest.limit),
    "x-ratelimit-remaining-tokens": String(left(nearest)),
    "x-ratelimit-reset-tokens": durationText((nearest.endsAt ?? now) - now),
  };
}
