import { hash } from "node:crypto";
import type { Locale } from "../../core/schema/message.ts";
import type { ToolDefinition, ToolLimitScope, ToolQuota } from "../../core/tool.ts";
import { nameOf } from "../budgets/periods.ts";
import { ChangingDocuments } from "../changing-documents.ts";
import type { Objection } from "../gates/context.ts";
import type { RateCounters } from "../ports/rates.ts";
import type { DocumentStore } from "../ports/stores.ts";
import type { RatedCaller, Rates } from "./rates.ts";
import { RATE_TEXTS } from "./texts.ts";

export interface ToolLimitsDeps {
  documents: DocumentStore;
  counters: RateCounters;
  /** What callers may call, whatever the tool. */
  rates: Rates;
  /** Unix milliseconds. */
  now(): number;
}

/** By the name of the period. */
type Counts = Readonly<Record<string, number>>;

const MINUTE_S = 60;
/** The counts of a tool are kept for longer than a month. */
const KEPT_MS = 40 * 24 * 3_600_000;
const PERIODS = ["day", "month"] as const;

/**
 * How often tools may be called: `tool_calls_per_minute` of keys, users and sessions, then the `rate` and the `quota` of the tool. A call is
 * counted when it is about to run, so that calls which are refused, known or answered from the cache cost nothing.
 */
export class ToolLimits {
  readonly #deps: ToolLimitsDeps;
  readonly #quotas: ChangingDocuments<Counts>;

  constructor(deps: ToolLimitsDeps) {
    this.#deps = deps;
    this.#quotas = new ChangingDocuments(deps.documents, "account", deps.now);
  }

  /** Whether there is anything to be counted for calls of the tool. */
  concerns({ rate, quota }: ToolDefinition, caller: string): boolean {
    return rate !== undefined || quota !== undefined || this.#deps.rates.bounds(caller);
  }

  /** Counts a call. Gives why it must not run, if it must not. Rejects if the store of the quotas cannot be used: nothing goes unseen. */
  async take(tool: ToolDefinition, who: RatedCaller, locale: Locale): Promise<Objection | undefined> {
    const texts = RATE_TEXTS[locale];
    const reached = await this.#deps.rates.takeToolCall(who);
    if (reached) return limited("rate", texts.rate(reached.scope, reached.limit, secondsTo(reached.resetMs)));
    const waitMs = await this.#takeRate(tool, who);
    if (waitMs !== undefined) {
      return limited("rate", texts.toolRate(tool.name, tool.rate?.per_minute ?? 0, secondsTo(waitMs)));
    }
    const full = await this.#takeQuota(tool, who);
    return full && limited("quota", texts.quota(tool.name, full.limit, full.period));
  }

  /** Milliseconds until the tool may be called again, if it may not be called now. */
  async #takeRate({ name, rate }: ToolDefinition, who: RatedCaller): Promise<number | undefined> {
    if (!rate) return undefined;
    const key = keyOf("rate", name, rate.per, who);
    const { taken, resetMs } = await this.#deps.counters.take(key, MINUTE_S, 1);
    return taken > rate.per_minute ? resetMs : undefined;
  }

  async #takeQuota({ name, quota }: ToolDefinition, who: RatedCaller): Promise<Full | undefined> {
    if (!quota) return undefined;
    let full: Full | undefined;
    await this.#quotas.change(keyOf("quota", name, quota.per, who), KEPT_MS, (counts = {}) => {
      const at = this.#deps.now();
      full = fullPeriod(quota, counts, at);
      if (full) return undefined;
      return Object.fromEntries(
        PERIODS.map((period) => nameOf(period, at)).map((period) => [period, (counts[period] ?? 0) + 1]),
      );
    });
    return full;
  }
}

/** A period in which a tool has been called as often as it may. */
interface Full {
  period: "day" | "month";
  limit: number;
}

function fullPeriod(quota: ToolQuota, counts: Counts, at: number): Full | undefined {
  return PERIODS.flatMap((period) => {
    const limit = quota[`per_${period}`];
    if (limit === undefined || (counts[nameOf(period, at)] ?? 0) < limit) return [];
    return [{ period, limit }];
  }).at(-1);
}

/** Names come from clients: what they hold stays out of the store's keys. Where nobody is named, those who are not count together. */
function keyOf(
  what: string,
  tool: string,
  per: ToolLimitScope,
  { caller, user, session }: RatedCaller,
): string {
  const whose = { tool: [], key: [caller], user: [caller, user ?? ""], session: [caller, session ?? ""] }[
    per
  ];
  return hash("sha256", JSON.stringify([what, tool, per, ...whose]));
}

const secondsTo = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function limited(problem: "rate" | "quota", feedback: string): Objection {
  return { code: "tool_rate_limited", problem, feedback };
}
