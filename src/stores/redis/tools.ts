import type { ToolDefinition } from "../../core/tool.ts";
import type { StoredTool, ToolStore } from "../../engine/ports/stores.ts";
import { another, CLOCK, type GivenTime, guarded, type RedisClient, script } from "./connection.ts";

/**
 * A row is `version:time:definition`; without a definition the change was a deletion, and keeps its number from coming back.
 * KEYS: rows of the name, names, count of changes. ARGV: time, name, definition or nothing, expected version or nothing, channel.
 */
const CHANGE = `${CLOCK}
local last = redis.call('LINDEX', KEYS[1], -1)
local version, live = 0, 0
if last then
  local a, b, v = string.find(last, '^(%d+):%d+:')
  version = tonumber(v)
  if #last > b then live = version end
end
if ARGV[4] ~= '' and tonumber(ARGV[4]) ~= live then return false end
if ARGV[3] == '' and live == 0 then return false end
local row = string.format('%d:%d:', version + 1, now())
redis.call('RPUSH', KEYS[1], row .. ARGV[3])
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('INCR', KEYS[3])
redis.call('PUBLISH', ARGV[5], ARGV[2])
return row`;

/** How often it is looked for changes that no message told of. */
const POLL_MS = 1_000;

/** The tools, all in one slot of a cluster. */
export function redisTools(
  client: RedisClient,
  prefix: string,
  time: GivenTime,
): ToolStore & { close(): void } {
  const change = script(client, "toolweirChangeTool", CHANGE);
  const own = `${prefix}{tools}:`;
  const names = `${own}names`;
  const changes = `${own}changes`;
  const channel = `${own}changed`;
  const rows = (name: string) => `${own}of:${name}`;
  const write = async (name: string, text: string, expected: number | undefined) =>
    (await change([rows(name), names, changes], [time(), name, text, expected ?? "", channel])) as
      | string
      | null;
  const last = async (name: string) => read(await client.lindex(rows(name), -1));
  const stops: (() => void)[] = [];

  return {
    list: () =>
      guarded(async () => {
        const found = await Promise.all((await client.smembers(names)).toSorted().map(last));
        return found.flatMap((tool) => tool ?? []);
      }),
    get: (name) => guarded(() => last(name)),
    put: (definition, expectedVersion) =>
      guarded(async () => {
        const text = JSON.stringify(definition);
        const head = await write(definition.name, text, expectedVersion);
        return read(head === null ? null : head + text);
      }),
    delete: (name, expectedVersion) => guarded(async () => (await write(name, "", expectedVersion)) !== null),
    versions: (name) =>
      guarded(async () => (await client.lrange(rows(name), 0, -1)).flatMap((row) => read(row) ?? [])),
    watch(onChange) {
      const watching = watchChanges(client, { channel, changes }, onChange);
      stops.push(watching);
      return watching;
    },
    close() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}

/** `undefined` for a row of a deletion. */
function read(row: string | null): StoredTool | undefined {
  const parts = row === null ? null : /^(\d+):(\d+):(.+)$/s.exec(row);
  if (!parts) return undefined;
  const definition = JSON.parse(parts[3] ?? "") as Omit<ToolDefinition, "version">;
  return { definition: { ...definition, version: Number(parts[1]) }, updatedAt: Number(parts[2]) };
}

/** Messages tell at once; the count tells what no message came of. */
function watchChanges(
  client: RedisClient,
  { channel, changes }: { channel: string; changes: string },
  onChange: () => void,
): () => void {
  // The first look tells too: between the reading before and now something may have changed.
  let seen: string | null | undefined;
  const look = async () => {
    const count = await client.get(changes).catch(() => undefined);
    if (count === undefined || count === seen) return;
    seen = count;
    onChange();
  };
  const listener = another(client);
  listener.on("message", () => void look());
  listener.on("ready", () => void listener.subscribe(channel).catch(() => {}));
  const timer = setInterval(() => void look(), POLL_MS).unref();
  void look();
  return () => {
    clearInterval(timer);
    listener.disconnect();
  };
}
