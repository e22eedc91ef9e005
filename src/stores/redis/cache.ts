import { hash } from "node:crypto";
import type { ResultCache } from "../../engine/ports/result-cache.ts";
import type { ToolReply } from "../../engine/ports/tools.ts";
import type { RedisClient } from "./connection.ts";

/** Larger answers are not worth the way. */
const MAX_BYTES = 1024 * 1024;

/** A cache that all processes share. A Redis that does not answer has nothing. */
export function redisCache(client: RedisClient, prefix: string): ResultCache {
  const name = (key: string) => `${prefix}cache:${hash("sha256", key)}`;
  return {
    async get(key) {
      const [head, body] = await client.hmgetBuffer(name(key), "head", "body").catch(() => []);
      if (!head || !body) return undefined;
      return { ...(JSON.parse(head.toString("utf8")) as Omit<ToolReply, "body">), body };
    },
    async set(key, { body, ...head }, ttlMs) {
      if (body.length > MAX_BYTES) return;
      const place = name(key);
      const write = client.multi().hset(place, { head: JSON.stringify(head), body });
      await write
        .pexpire(place, Math.ceil(ttlMs))
        .exec()
        .catch(() => {});
    },
  };
}
