import { matchesGlob } from "../offer.ts";

/** What a model costs, in millionths of a currency unit for a million tokens. */
export interface Price {
  /** A model name of a request; `*` stands for anything. */
  match: string;
  input: number;
  output: number;
}

/** What was used up: tokens, and millionths of a currency unit. Whole numbers. */
export interface Amount {
  tokens: number;
  cost_micros: number;
}

export const NOTHING: Amount = { tokens: 0, cost_micros: 0 };

export const plus = (a: Amount, b: Amount): Amount => ({
  tokens: a.tokens + b.tokens,
  cost_micros: a.cost_micros + b.cost_micros,
});

/** Tokens of one completion. */
export interface TokenCounts {
  input: number;
  output: number;
}

/** Reads the usage of a completion; `undefined` where nothing in it can be counted. What only the total shows counts as output. */
export function tokenCounts(usage: Readonly<Record<string, unknown>> | undefined): TokenCounts | undefined {
  const [input, output, total] = ["prompt_tokens", "completion_tokens", "total_tokens"].map((member) =>
    count(usage?.[member]),
  );
  if (input === undefined && output === undefined && total === undefined) return undefined;
  return { input: input ?? 0, output: Math.max(output ?? 0, (total ?? 0) - (input ?? 0)) };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The amount of one completion by the first price that fits the model. What has no price costs nothing; a cost is rounded up. */
export function amountOf(prices: readonly Price[], model: string, { input, output }: TokenCounts): Amount {
  const price = prices.find(({ match }) => matchesGlob(match, model));
  const tokens = input + output;
  if (!price) return { tokens, cost_micros: 0 };
  const exact = BigInt(input) * BigInt(price.input) + BigInt(output) * BigInt(price.output);
  return { tokens, cost_micros: Number((exact + 999_999n) / 1_000_000n) };
}
