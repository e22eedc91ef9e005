import { CLOCK } from "./connection.ts";

/**
 * The ledger lies in one slot of a cluster, under a common beginning of its keys:
 *
 * - `entries`: by id, the entry as JSON; `places`: by id, the hashes of its caller and its run
 * - `time`, `caller:…`, `run:…`: ids by the time of their creation
 * - `pending`, `pending:…` (of a caller): ids of what awaits approval, by the end of its time
 * - `open`: what was approved or is being carried out; `ended`: what can be forgotten, by the time of its last change
 */
const INDEX = `${CLOCK}
local own = KEYS[1]
local function indexed(id, state, expires, updated)
  local caller = string.match(redis.call('HGET', own .. 'places', id) or '', '^(%x+):')
  local pending = { own .. 'pending', own .. 'pending:' .. (caller or '') }
  for _, key in ipairs(pending) do
    if state == 'awaiting_approval' then redis.call('ZADD', key, expires, id) else redis.call('ZREM', key, id) end
  end
  local isOpen = state == 'approved' or state == 'executing'
  if isOpen then redis.call('ZADD', own .. 'open', updated, id) else redis.call('ZREM', own .. 'open', id) end
  local isKept = isOpen or state == 'awaiting_approval' or state == 'outcome_unknown'
  if isKept then redis.call('ZREM', own .. 'ended', id) else redis.call('ZADD', own .. 'ended', updated, id) end
end
local function forget(id)
  local caller, run = string.match(redis.call('HGET', own .. 'places', id) or '', '^(%x+):(%x+)$')
  for _, key in ipairs({ 'time', 'ended', 'open', 'pending', 'caller:' .. (caller or ''), 'run:' .. (run or '') }) do
    redis.call('ZREM', own .. key, id)
  end
  redis.call('ZREM', own .. 'pending:' .. (caller or ''), id)
  redis.call('HDEL', own .. 'entries', id)
  redis.call('HDEL', own .. 'places', id)
end
`;

/**
 * KEYS: the beginning. ARGV: time, id, entry, state, created, expires, updated, caller, run, most pending or nothing, how long what has ended is
 * kept, how much of it is forgotten at once. Gives 0 where as many as may await approval.
 */
export const ADD = `${INDEX}
local at = now()
local id, caller, run = ARGV[2], ARGV[8], ARGV[9]
if ARGV[10] ~= '' then
  local pending = redis.call('ZCOUNT', own .. 'pending:' .. caller, '(' .. string.format('%d', at), '+inf')
  if pending >= tonumber(ARGV[10]) then return 0 end
end
for _, old in ipairs(redis.call('ZRANGEBYSCORE', own .. 'ended', '-inf', at - ARGV[11], 'LIMIT', 0, ARGV[12])) do forget(old) end
redis.call('HSET', own .. 'places', id, caller .. ':' .. run)
redis.call('HSET', own .. 'entries', id, ARGV[3])
for _, key in ipairs({ 'time', 'caller:' .. caller, 'run:' .. run }) do redis.call('ZADD', own .. key, ARGV[5], id) end
indexed(id, ARGV[4], ARGV[6], ARGV[7])
return 1`;

/**
 * KEYS: the beginning. ARGV: time, id, entry as it was, entry, state, expires, updated, end of the time that must not be over or nothing. Gives 0
 * where the entry is another one meanwhile, or its time is over.
 */
export const CHANGE = `${INDEX}
if redis.call('HGET', own .. 'entries', ARGV[2]) ~= ARGV[3] then return 0 end
if ARGV[8] ~= '' and tonumber(ARGV[8]) <= now() then return 0 end
redis.call('HSET', own .. 'entries', ARGV[2], ARGV[4])
indexed(ARGV[2], ARGV[5], ARGV[6], ARGV[7])
return 1`;
