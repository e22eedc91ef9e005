import { LRUCache } from "lru-cache";
import type { ResultCache } from "../engine/ports/result-cache.ts";
import type { ToolReply } from "../engine/ports/tools.ts";

/** What an entry takes beside its body, roughly. */
const ENTRY_BYTES = 512;

/**
 * A cache in this process that holds at most `maxBytes`; what was not used for longest makes room. With 0 it keeps nothing. `halve`
 * drops what half of the bytes are in.
 */
export function memoryCache(maxBytes: number): ResultCache & { halve(): void } {
  const kept =
    maxBytes > 0
      ? new LRUCache<string, ToolReply>({
          maxSize: maxBytes,
          maxEntrySize: maxBytes,
          sizeCalculation: ({ body }) => body.length + ENTRY_BYTES,
        })
      : undefined;
  return {
    halve() {
      const most = (kept?.calculatedSize ?? 0) / 2;
      while (kept && kept.calculatedSize > most) kept.pop();
    },
    async get(key) {
      return kept?.get(key);
    },
    async set(key, reply, ttl) {
      // A copy: the body may be a part of a much larger buffer.
      kept?.set(key, { ...reply, body: Buffer.from(reply.body) }, { ttl });
    },
  };
}
