import { hash } from "node:crypto";
import type { KeptTurn, KeptTurnStore } from "../../engine/ports/stores.ts";
import { CLOCK, type GivenTime, guarded, type RedisClient, script } from "./connection.ts";

/** KEYS: call. ARGV: time, turn, ttl. */
const KEEP = `${CLOCK}
redis.call('HSET', KEYS[1], 'turn', ARGV[2], 'expires', now() + ARGV[3])
keep(KEYS[1], ARGV[3])
return 1`;

/** KEYS: call. ARGV: time. */
const FIND = `${CLOCK}
local found = redis.call('HMGET', KEYS[1], 'turn', 'expires')
if not found[1] or tonumber(found[2]) <= now() then return false end
return found[1]`;

/** The kept turns. A turn stands under each of its client calls, so that one look finds it. */
export function redisKeptTurns(client: RedisClient, prefix: string, time: GivenTime): KeptTurnStore {
  const keep = script(client, "toolweirKeepTurn", KEEP);
  const find = script(client, "toolweirFindTurn", FIND);
  const name = (owner: string, call: string) =>
    `${prefix}turn:${hash("sha256", JSON.stringify([owner, call]))}`;
  return {
    keep: (owner, turn, ttlMs) =>
      guarded(async () => {
        const text = JSON.stringify(turn);
        const calls = turn.clientCallIds.map((id) =>
          keep([name(owner, id)], [time(), text, Math.ceil(ttlMs)]),
        );
        await Promise.all(calls);
      }),
    find: (owner, clientCallId) =>
      guarded(async () => {
        const found = await find([name(owner, clientCallId)], [time()]);
        return typeof found === "string" ? (JSON.parse(found) as KeptTurn) : undefined;
      }),
  };
}
