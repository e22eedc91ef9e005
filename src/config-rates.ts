import { group, whole } from "./config-shapes.ts";

/** What may be done in a minute; what is absent is without bound. */
export interface RateConfig {
  per_minute?: number;
  tool_calls_per_minute?: number;
  tokens_per_minute?: number;
}

/** Bounds by the minute of those who send requests. */
export interface RateSettings {
  /** Of every key without one of its own, except for the admin key. */
  key_rate?: RateConfig;
  /** Of every user within a key. */
  user_rate?: RateConfig;
  /** Of every session. */
  session_rate?: RateConfig;
}

/** How a rate is written. */
export const RATE = group({
  per_minute: whole(undefined, 1, 1_000_000_000),
  tool_calls_per_minute: whole(undefined, 1, 1_000_000_000),
  tokens_per_minute: whole(undefined, 1, 1_000_000_000),
});

/** Whom requests, tool calls and tokens are counted for by the minute. */
export interface Rated {
  /** By name of the key. */
  keys: Readonly<Record<string, RateConfig>>;
  key: RateConfig;
  user: RateConfig;
  session: RateConfig;
}

/** Gathers what stands in several settings. */
export function readRates(limits: RateSettings, keys: readonly { name: string; rate?: RateConfig }[]): Rated {
  return {
    keys: Object.fromEntries(keys.flatMap(({ name, rate }) => (rate ? [[name, rate] as const] : []))),
    key: limits.key_rate ?? {},
    user: limits.user_rate ?? {},
    session: limits.session_rate ?? {},
  };
}
