import { RateLimiterMemory } from "rate-limiter-flexible";
import type { RateCounters } from "../engine/ports/rates.ts";

/** Counts of this process alone, gone when it ends. */
export function memoryRates(): RateCounters {
  // Its own bound is not used: the same count may stand under several.
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 1 });
  return {
    async take(key, windowS, points) {
      const name = `${windowS}:${key}`;
      const now =
        points === 0
          ? await limiter.get(name)
          : await limiter.penalty(name, points, { customDuration: windowS });
      return { taken: Math.max(0, now?.consumedPoints ?? 0), resetMs: now?.msBeforeNext ?? windowS * 1_000 };
    },
  };
}
