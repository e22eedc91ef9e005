import type { Stores } from "../engine/ports/stores.ts";
import { openRedis, type RedisOptions } from "./redis/open-redis.ts";
import { openSqlite } from "./sqlite.ts";
import { StoreError } from "./store-error.ts";

/**
 * Opens the store that a URL names: `sqlite:FILE` (relative to the working directory), `memory:`, which forgets everything at the end, or a Redis
 * or Valkey for many processes. Throws a `StoreError` if there is no such kind of store or it cannot be opened.
 */
export async function openStores(url: string, options: RedisOptions): Promise<Stores> {
  if (url === "memory:") return openSqlite(":memory:");
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) return openSqlite(file);
  if (/^(?:redis|valkey)s?(?:\+\w+)?:/.test(url)) return openRedis(url, options);
  // The URL itself stays out of the text: it may hold a password.
  throw new StoreError("The store is not one that this version knows; use sqlite:FILE, memory: or redis://.");
}
