import { LRUCache } from "lru-cache";
import type { ResultCache } from "../engine/ports/result-cache.ts";
import type { ToolReply } from "../engine/ports/tools.ts";

/** What an entry takes beside its body, roughly. */
const ENTRY_BYTES = 512;

/** A cache in this process that holds at most `maxBytes`; what was not used for longest makes room. With 0 it keeps nothing. */
export function memoryCache(maxBytes: number): ResultCache {
  const kept =
    maxBytes > 0
      ? new LRUCache<string, ToolReply>({
          maxSize: maxBytes,
          maxEntrySize: maxBytes,
          sizeCalculation: ({ body }) => body.length + ENTRY_BYTES,
        })
      : undefined;
  return {
    async get(key) {
      return kept?.get(key);
    },
    async set(key, reply, ttl) {
      // A copy: the body may be a part of a much larger buffer.
      kept?.set(key, { ...reply, body: Buffer.from(reply.body) }, { ttl });
    },
  };
}
