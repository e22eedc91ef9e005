import { hash } from "node:crypto";
import { GatewayError } from "../../errors.ts";
import { durationText } from "../duration-text.ts";
import type { RateCounters } from "../ports/rates.ts";

/** What may be done in a minute; what is absent is without bound. */
export interface Rate {
  /** Requests. */
  per_minute?: number;
  tool_calls_per_minute?: number;
  tokens_per_minute?: number;
}

/** Whose requests, calls and tokens are counted together. */
export type RateScope = "key" | "user" | "session";

/** Who sends a request. Users and sessions are told apart within their key. */
export interface RatedCaller {
  caller: string;
  user?: string | undefined;
  /** Absent where the client named none. */
  session?: string | undefined;
}

export interface RatesOptions {
  counters: RateCounters;
  /** Of a caller, by name. */
  ofKey(caller: string): Rate;
  user: Rate;
  session: Rate;
}

/** A bound that has been reached. */
export interface RateReached {
  scope: RateScope;
  limit: number;
  resetMs: number;
}

type Unit = "requests" | "tokens" | "tool_calls";

/** One bound, and how it stands. */
interface Standing extends RateReached {
  unit: Unit;
  left: number;
}

const WINDOW_S = 60;
const SCOPES: readonly RateScope[] = ["key", "user", "session"];

/**
 * What callers may do in a minute.
 *
 * 1. A request is counted before its body is read for its key, and afterwards for its user and session. What is refused for one of them does
 *    not count for those before it.
 * 2. Tokens are counted when a run has ended: as long as any are left a request is admitted.
 * 3. Every answer says how near the nearest bound is.
 */
export class Rates {
  readonly #options: RatesOptions;

  constructor(options: RatesOptions) {
    this.#options = options;
  }

  /** Whether anything is bounded for this caller. */
  bounds(caller: string): boolean {
    const { ofKey, user, session } = this.#options;
    return [ofKey(caller), user, session].some((rate) => Object.keys(rate).length > 0);
  }

  /** Counts a request of a key. Gives the headers for its answer; throws `rate_limit_exceeded`. */
  async admitKey(caller: string): Promise<Record<string, string>> {
    return this.#admit({ caller }, ["key"]);
  }

  /** Counts a request of a user and of a session. Gives the headers for its answer, if there are bounds; throws `rate_limit_exceeded`. */
  async admitUser(who: RatedCaller): Promise<Record<string, string>> {
    return this.#admit(who, ["user", "session"]);
  }

  /** Counts a call of a tool. Gives the bound that does not allow it, if one does not. */
  async takeToolCall(who: RatedCaller): Promise<RateReached | undefined> {
    const standings = await this.#take(who, SCOPES, "tool_calls");
    return standings.find(isOver);
  }

  /** Counts the tokens of a run. */
  async usedTokens(who: RatedCaller, tokens: number): Promise<void> {
    if (tokens > 0) await this.#take(who, SCOPES, "tokens", tokens);
  }

  async #admit(who: RatedCaller, scopes: readonly RateScope[]): Promise<Record<string, string>> {
    const tokens = await this.#take(who, scopes, "tokens", 0);
    const spent = tokens.find(({ left }) => left <= 0);
    if (spent) throw exceeded(spent, headersOf(tokens));
    const requests = await this.#take(who, scopes, "requests");
    const headers = { ...headersOf(requests), ...headersOf(tokens) };
    const over = requests.find(isOver);
    if (over) throw exceeded(over, headers);
    return headers;
  }

  /** Takes as much in each scope that has a bound. Where one has nothing left, what was taken in those before it is given back. */
  async #take(who: RatedCaller, scopes: readonly RateScope[], unit: Unit, points = 1): Promise<Standing[]> {
    const standings: Standing[] = [];
    for (const scope of scopes) {
      const limit = this.#limit(who, scope, unit);
      const key = limit === undefined ? undefined : keyOf(who, scope, unit);
      if (limit === undefined || key === undefined) continue;
      const { taken, resetMs } = await this.#options.counters.take(key, WINDOW_S, points);
      standings.push({ scope, unit, limit, left: limit - taken, resetMs });
      if (taken <= limit || unit === "tokens") continue;
      for (const { scope: before } of standings.slice(0, -1)) {
        await this.#options.counters.take(keyOf(who, before, unit) ?? "", WINDOW_S, -points);
      }
      break;
    }
    return standings;
  }

  #limit({ caller }: RatedCaller, scope: RateScope, unit: Unit): number | undefined {
    const rate = scope === "key" ? this.#options.ofKey(caller) : this.#options[scope];
    if (unit === "requests") return rate.per_minute;
    return unit === "tokens" ? rate.tokens_per_minute : rate.tool_calls_per_minute;
  }
}

const isOver = ({ left }: Standing): boolean => left < 0;

/** Names come from clients: what they hold stays out of the store's keys. `undefined` where there is nobody to count for. */
function keyOf({ caller, user, session }: RatedCaller, scope: RateScope, unit: Unit): string | undefined {
  const name = { key: "", user, session }[scope];
  return name === undefined ? undefined : hash("sha256", JSON.stringify([scope, unit, caller, name]));
}

const NOUN: Readonly<Record<Unit, string>> = {
  requests: "requests",
  tokens: "tokens",
  tool_calls: "tool calls",
};

function exceeded(standing: Standing, headers: Record<string, string>): GatewayError {
  const { scope, unit, limit, resetMs } = standing;
  const seconds = Math.min(WINDOW_S, Math.max(1, Math.ceil(resetMs / 1_000)));
  return new GatewayError(
    "rate_limit_exceeded",
    `Rate limit reached for this ${scope}: ${limit} ${NOUN[unit]} per minute. Try again in ${seconds} s.`,
    { headers: { ...headers, "retry-after": String(seconds), "x-should-retry": "true" } },
  );
}

/** `x-ratelimit-limit-requests`, `-remaining-requests` and `-reset-requests` of the bound that is nearest; the same for tokens. */
function headersOf(standings: readonly Standing[]): Record<string, string> {
  const [nearest] = standings.toSorted((a, b) => a.left - b.left);
  if (!nearest) return {};
  const { unit, limit, left, resetMs } = nearest;
  return {
    [`x-ratelimit-limit-${unit}`]: String(limit),
    [`x-ratelimit-remaining-${unit}`]: String(Math.max(0, left)),
    [`x-ratelimit-reset-${unit}`]: durationText(resetMs),
  };
}
