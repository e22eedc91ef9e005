import { hash, randomInt } from "node:crypto";
import type { DocumentStore } from "../../engine/ports/stores.ts";
import { CLOCK, type GivenTime, guarded, type RedisClient, script } from "./connection.ts";

/** KEYS: document. ARGV: time, value, revision, ttl, expected revision or nothing. */
const PUT = `${CLOCK}
local at = now()
local old = redis.call('HMGET', KEYS[1], 'revision', 'expires')
local current = old[1] and tonumber(old[2]) > at and old[1] or '0'
if ARGV[5] ~= '' and ARGV[5] ~= current then return 0 end
redis.call('HSET', KEYS[1], 'value', ARGV[2], 'revision', ARGV[3], 'expires', at + ARGV[4])
keep(KEYS[1], ARGV[4])
return 1`;

/** KEYS: document. ARGV: time. */
const GET = `${CLOCK}
local found = redis.call('HMGET', KEYS[1], 'value', 'revision', 'expires')
if not found[1] or tonumber(found[3]) <= now() then return false end
return found`;

/** KEYS: document. ARGV: time, expected revision or nothing. */
const DELETE = `${CLOCK}
local old = redis.call('HMGET', KEYS[1], 'revision', 'expires')
if not old[1] or tonumber(old[2]) <= now() then return 0 end
if ARGV[2] ~= '' and ARGV[2] ~= old[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1`;

const MAX_REVISION = 2 ** 48 - 1;

/** Documents, each a hash of its own. Revisions are drawn, so that none comes twice and none has to be counted. */
export function redisDocuments(client: RedisClient, prefix: string, time: GivenTime): DocumentStore {
  const put = script(client, "toolweirPutDocument", PUT);
  const get = script(client, "toolweirGetDocument", GET);
  const remove = script(client, "toolweirDeleteDocument", DELETE);
  const name = (kind: string, key: string) => `${prefix}document:${kind}:${hash("sha256", key)}`;
  return {
    get: (kind, key) =>
      guarded(async () => {
        const found = (await get([name(kind, key)], [time()])) as string[] | null;
        if (!found) return undefined;
        const [value = "null", revision, expiresAt] = found;
        return {
          value: JSON.parse(value) as unknown,
          revision: Number(revision),
          expiresAt: Number(expiresAt),
        };
      }),
    put: (kind, key, value, { ttlMs, expectedRevision = "" }) =>
      guarded(async () => {
        const revision = randomInt(1, MAX_REVISION);
        const given = [time(), JSON.stringify(value), revision, Math.ceil(ttlMs), expectedRevision];
        return (await put([name(kind, key)], given)) === 1 ? revision : undefined;
      }),
    delete: (kind, key, expectedRevision = undefined) =>
      guarded(async () => (await remove([name(kind, key)], [time(), expectedRevision ?? ""])) === 1),
  };
}
