import type { AuditEvent, AuditLog } from "../../engine/ports/audit.ts";
import { type GivenTime, guarded, type RedisClient } from "./connection.ts";

/** The audit log as a stream, whose ids hold the time of the server. */
export function redisAudit(client: RedisClient, prefix: string, time: GivenTime): AuditLog {
  const key = `${prefix}audit`;
  const startOf = (after: string | undefined, from: number) =>
    after === undefined ? `${from}-0` : `(${after}`;
  return {
    append: (event) =>
      guarded(async () => {
        const at = time();
        await client.xadd(key, at === "" ? "*" : `${at}-*`, "event", JSON.stringify(event));
      }),
    list: ({ after, from = 0, limit }) =>
      guarded(async () => {
        const found = await client.xrange(key, startOf(after, from), "+", "COUNT", limit);
        return found.map(([id, [, event = "{}"]]) => ({
          id,
          at: Number.parseInt(id, 10),
          ...(JSON.parse(event) as AuditEvent),
        }));
      }),
  };
}
