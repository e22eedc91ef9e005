import type { Stores } from "../../engine/ports/stores.ts";
import { StoreError } from "../store-error.ts";
import { readAddress } from "./address.ts";
import { redisAudit } from "./audit.ts";
import { redisCache } from "./cache.ts";
import {
  answers,
  connect,
  type GivenTime,
  guarded,
  type RedisClient,
  refuseFatal,
  setupFaults,
} from "./connection.ts";
import { redisDocuments } from "./documents.ts";
import { redisKeptTurns } from "./kept-turns.ts";
import { redisLedger } from "./ledger.ts";
import { redisRates } from "./rates.ts";
import { redisTools } from "./tools.ts";

export interface RedisOptions {
  /** Replicas that must have what the ledger writes. */
  minAcks?: number;
  /** Another name for every process. */
  process: string;
  /** What goes wrong, and what an operator should change. */
  onProblem(message: string): void;
  /** Begins the names of all keys. */
  prefix?: string;
  /** A time to go by in place of the store's own, in Unix milliseconds: for tests. */
  now?: () => number;
}

/** How long a start waits for the store. */
const START_MS = 1_000;
/** How often it is looked whether the server is still set up as it must be. */
const CHECK_MS = 60_000;

/**
 * Everything durable in a Redis, for many processes. Throws a `StoreError` for one that would lose what it holds. One that does not answer is
 * waited for: until then, and whenever it fails later, everything is refused with `store_unavailable`.
 */
export async function openRedis(url: string, options: RedisOptions): Promise<Stores> {
  const { minAcks = 0, process, onProblem, prefix = "toolweir:", now } = options;
  const address = readAddress(url);
  if (address.kind === "cluster" && minAcks > 0) {
    throw new StoreError("ledger.min_acks does not work with a cluster; use redis:// or redis+sentinel://.");
  }
  const client = connect(address, tellOnce(onProblem));
  try {
    if (await answers(client, START_MS))
      for (const { message } of refuseFatal(await setupFaults(client))) onProblem(message);
    else onProblem("The Redis store does not answer yet. It is tried again until it does.");
  } catch (error) {
    client.disconnect();
    throw error;
  }
  const time: GivenTime = () => now?.() ?? "";
  const tools = redisTools(client, prefix, time);
  const rates = redisRates(client, prefix, process);
  const check = watchSetup(client, onProblem);
  let isOpen = true;
  return {
    tools,
    keptTurns: redisKeptTurns(client, prefix, time),
    documents: redisDocuments(client, prefix, time),
    ledger: redisLedger(client, { prefix, time, minAcks }),
    audit: redisAudit(client, prefix, time),
    rates,
    cache: redisCache(client, prefix),
    ping: () =>
      guarded(async () => {
        await client.ping();
      }),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(check);
      rates.close();
      tools.close();
      client.disconnect();
    },
  };
}

/** Says of the same trouble again only after it was over. */
function tellOnce(onProblem: (message: string) => void): (error: Error) => void {
  let last = "";
  return ({ message }) => {
    if (message !== last) onProblem(`The Redis store: ${message}`);
    last = message;
  };
}

function watchSetup(client: RedisClient, onProblem: (message: string) => void): NodeJS.Timeout {
  let last = "";
  const look = async () => {
    const faults = await setupFaults(client);
    const text = faults.map(({ message }) => message).join(" ");
    if (text !== last && text !== "") onProblem(text);
    last = text;
  };
  return setInterval(() => void look().catch(() => {}), CHECK_MS).unref();
}
