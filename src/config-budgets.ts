import type { BudgetLimits, KeyBudgetSettings, Settings } from "./config-schema.ts";

/** What may be used up; what is absent is without bound. Costs are in millionths of a currency unit. */
export interface BudgetConfig {
  run: AmountConfig;
  session: AmountConfig;
  /** Of every caller whose key has no budget of its own, except for the admin key. */
  key: KeyBudgetConfig;
  /** By name of the key. */
  keys: Readonly<Record<string, KeyBudgetConfig>>;
}

export interface AmountConfig {
  tokens?: number;
  cost_micros?: number;
}

export interface KeyBudgetConfig {
  day: AmountConfig;
  month: AmountConfig;
}

/** What a model costs for a million tokens, in millionths of a currency unit: whole numbers. */
export interface PriceConfig {
  match: string;
  input: number;
  output: number;
}

/** Gathers what stands in several settings. */
export function readBudgets({ limits, auth }: Settings): BudgetConfig {
  return {
    run: amount(limits.run_tokens, limits.run_cost_micros),
    session: amount(limits.session_tokens, limits.session_cost_micros),
    key: keyBudget(limits, {}),
    keys: Object.fromEntries(
      auth.keys.flatMap(({ name, budget }) => (budget ? [[name, keyBudget(limits, budget)] as const] : [])),
    ),
  };
}

function keyBudget(limits: BudgetLimits, own: KeyBudgetSettings): KeyBudgetConfig {
  return {
    day: amount(
      own.tokens_per_day ?? limits.key_tokens_per_day,
      own.cost_micros_per_day ?? limits.key_cost_micros_per_day,
    ),
    month: amount(
      own.tokens_per_month ?? limits.key_tokens_per_month,
      own.cost_micros_per_month ?? limits.key_cost_micros_per_month,
    ),
  };
}

function amount(tokens: number | undefined, cost: number | undefined): AmountConfig {
  return { ...(tokens !== undefined && { tokens }), ...(cost !== undefined && { cost_micros: cost }) };
}

/** The prices in whole millionths. A decimal more would be lost, and a model without a price would be free of any bound on cost. */
export function readPrices(
  settings: Settings,
  budgets: BudgetConfig,
  fault: (path: string, expected: string) => void,
): PriceConfig[] {
  const prices = settings.prices.map(({ match, input_per_million, output_per_million }, index) => {
    const micros = (member: string, value: number): number => {
      const whole = Math.round(value * 1e6);
      if (whole / 1e6 !== value) fault(`prices[${index}].${member}`, "a number with at most 6 decimals");
      return whole;
    };
    const input = micros("input_per_million", input_per_million);
    return { match, input, output: micros("output_per_million", output_per_million) };
  });
  if (!prices.some(({ match }) => match === "*") && boundsCost(budgets)) {
    fault("prices", 'a price for "*" at the end, because there is a bound on cost');
  }
  return prices;
}

function boundsCost({ run, session, key, keys }: BudgetConfig): boolean {
  const all = [run, session, ...[key, ...Object.values(keys)].flatMap(({ day, month }) => [day, month])];
  return all.some(({ cost_micros }) => cost_micros !== undefined);
}
