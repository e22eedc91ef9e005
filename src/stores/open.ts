import type { Stores } from "../engine/ports/stores.ts";
import { openSqlite } from "./sqlite.ts";
import { StoreError } from "./store-error.ts";

/**
 * Opens the store that a URL names: `sqlite:FILE` (relative to the working directory) or `memory:`, which forgets everything at the end.
 * Throws a `StoreError` if there is no such kind of store or it cannot be opened.
 */
export async function openStores(url: string): Promise<Stores> {
  if (url === "memory:") return openSqlite(":memory:");
  const file = /^sqlite:(.+)$/.exec(url)?.[1];
  if (file !== undefined) return openSqlite(file);
  if (/^rediss?:/.test(url)) {
    throw new StoreError("A redis store is not available in this version; use sqlite:FILE or memory:.");
  }
  // The URL itself stays out of the text: it may hold a password.
  throw new StoreError("The store is not one that this version knows; use sqlite:FILE or memory:.");
}
