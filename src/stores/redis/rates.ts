import { RateLimiterRedis } from "rate-limiter-flexible";
import type { RateCounters } from "../../engine/ports/rates.ts";
import { memoryRates } from "../memory-rates.ts";
import type { RedisClient } from "./connection.ts";

/** A process that has not said for so long that it is there is not. */
const THERE_MS = 15_000;
const SAY_MS = 5_000;

export interface RedisRates extends RateCounters {
  close(): void;
}

/**
 * Counts that all processes share. While Redis does not answer each process counts for itself, and as if all the others that were there last did
 * the same: so all together take no more than they may.
 */
export function redisRates(client: RedisClient, prefix: string, process: string): RedisRates {
  const points = Number.MAX_SAFE_INTEGER;
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: `${prefix}rate`,
    points,
    duration: 1,
  });
  const local = memoryRates();
  const roll = rollCall(client, `${prefix}processes`, process);
  return {
    async take(key, windowS, taken) {
      const name = `${windowS}:${key}`;
      try {
        const now =
          taken === 0
            ? await limiter.get(name)
            : await limiter.penalty(name, taken, { customDuration: windowS });
        return {
          taken: Math.max(0, now?.consumedPoints ?? 0),
          resetMs: now?.msBeforeNext ?? windowS * 1_000,
        };
      } catch {
        const own = await local.take(key, windowS, taken);
        return { ...own, taken: own.taken * roll.count() };
      }
    },
    close: roll.close,
  };
}

/** Says that this process is there, and counts those that say so. */
function rollCall(client: RedisClient, key: string, process: string): { count(): number; close(): void } {
  let count = 1;
  const say = async () => {
    const now = Date.now();
    await client.zadd(key, now, process);
    await client.zremrangebyscore(key, "-inf", now - THERE_MS);
    count = Math.max(1, await client.zcard(key));
  };
  const tell = () => void say().catch(() => {});
  const timer = setInterval(tell, SAY_MS).unref();
  tell();
  return { count: () => count, close: () => clearInterval(timer) };
}
