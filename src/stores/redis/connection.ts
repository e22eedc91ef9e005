import { setTimeout as delay } from "node:timers/promises";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import { GatewayError } from "../../errors.ts";
import { StoreError } from "../store-error.ts";
import type { RedisAddress } from "./address.ts";

/** A connection to one Redis or to a cluster. */
export type RedisClient = Redis | Cluster;

/**
 * What whoever asks waits for an answer. A command that waits for a connection is not taken back then: it may still be sent when there is one, and
 * how many wait is not bounded.
 */
const COMMAND_MS = 250;
const CONNECT_MS = 2_000;
/** Pauses between two tries to connect. */
const RETRY_MS = { first: 100, most: 2_000 };

type Options = Omit<RedisOptions, "replyMapping">;

const COMMON: Options = {
  commandTimeout: COMMAND_MS,
  connectTimeout: CONNECT_MS,
  // A command that was sent is not sent again: whether it was carried out is not known.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: null,
  retryStrategy: (times) => Math.min(RETRY_MS.first * 2 ** (times - 1), RETRY_MS.most),
  // After a failover the old master only reads: then the new one is looked for.
  reconnectOnError: (error) => error.message.startsWith("READONLY"),
};

/** Connects, now and whenever the connection is lost. `onError` is told what goes wrong with it. */
export function connect(address: RedisAddress, onError: (error: Error) => void): RedisClient {
  const { username, password, tls } = address;
  const options: Options = {
    ...COMMON,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  };
  const client = open(address, options);
  client.on("error", onError);
  return client;
}

function open(address: RedisAddress, options: Options): RedisClient {
  if (address.kind === "cluster") {
    return new Cluster(address.nodes, {
      redisOptions: options,
      clusterRetryStrategy: (times) => Math.min(RETRY_MS.first * 2 ** times, RETRY_MS.most),
    });
  }
  if (address.kind === "sentinel") {
    const { nodes: sentinels, name, db, tls } = address;
    return new Redis({ ...options, sentinels, name, db, enableTLSForSentinelMode: tls });
  }
  const { host, port, db } = address;
  return new Redis({ ...options, host, port, db });
}

/** Another connection to the same store, for messages. */
export function another(client: RedisClient): RedisClient {
  const made = client instanceof Cluster ? client.duplicate() : client.duplicate();
  // What goes wrong is told by the first one.
  made.on("error", () => {});
  return made;
}

/** Runs a piece of work on the store; whatever it throws comes out as `store_unavailable`, with the fault as its cause. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("store_unavailable", "The gateway's store does not answer. Try again later.", {
      cause: error,
      headers: { "retry-after": "2" },
    });
  }
}

/** A script that Redis runs as one step. The first of `keys` decides in a cluster where it runs; all must be there. */
export type Script = (keys: readonly string[], values: readonly (string | number)[]) => Promise<unknown>;

/** Makes a script known to a connection, under a name of its own. It is sent once, and again where Redis has forgotten it. */
export function script(client: RedisClient, name: string, lua: string): Script {
  client.defineCommand(name, { lua });
  const run = (client as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name];
  if (!run) throw new TypeError(`${name} is not there`);
  return (keys, values) => run.call(client, keys.length, ...keys, ...values);
}

/**
 * Gives the time of the store: its own, or the one that a test sets. `ARGV[1]` of every script is what `given` says; in it `now()` is the
 * time in Unix milliseconds, and `keep(key, ms)` lets the store forget a key after that time.
 */
export const CLOCK = `
local function now()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local function keep(key, ms)
  if ARGV[1] == '' then redis.call('PEXPIRE', key, math.max(1, math.floor(ms))) end
end
`;

/** What stands for the time in a script: nothing for the time of the store. */
export type GivenTime = () => number | "";

/** What is wrong with how a Redis is set up, for what the gateway keeps in it. */
export interface SetupFault {
  /** Entries may be lost: the store cannot be used. */
  isFatal: boolean;
  message: string;
}

/** Looks how the server is set up. One that does not tell is taken to be right. */
export async function setupFaults(client: RedisClient): Promise<SetupFault[]> {
  const setting = async (name: string): Promise<string | undefined> => {
    const answer = (await client.config("GET", name).catch(() => [])) as string[];
    return answer[1];
  };
  const policy = await setting("maxmemory-policy");
  const appends = await setting("appendonly");
  const faults: SetupFault[] = [];
  if (policy !== undefined && policy !== "noeviction") {
    const message = `Redis would drop entries when its memory is full: set maxmemory-policy to noeviction (it is ${policy}).`;
    faults.push({ isFatal: true, message });
  }
  if (appends === "no") {
    const message = "Redis forgets what it holds when it ends: set appendonly to yes.";
    faults.push({ isFatal: false, message });
  }
  return faults;
}

/** Waits until the store answers, at most `ms`. `false` where it did not. */
export async function answers(client: RedisClient, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const isThere = await client.ping().then(
      () => true,
      () => false,
    );
    if (isThere) return true;
    await delay(50);
  }
  return false;
}

/** Throws the first fault that is fatal; gives the others. */
export function refuseFatal(faults: readonly SetupFault[]): SetupFault[] {
  const fatal = faults.find(({ isFatal }) => isFatal);
  if (fatal) throw new StoreError(fatal.message);
  return faults.filter(({ isFatal }) => !isFatal);
}
