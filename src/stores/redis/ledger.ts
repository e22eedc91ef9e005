import { hash } from "node:crypto";
import type { LedgerChange, LedgerEntry, LedgerFilter, LedgerStore } from "../../engine/ports/ledger.ts";
import { BATCH, effective, KEPT_MS, knowsKey, SWEEP } from "../ledger-rules.ts";
import { type GivenTime, guarded, type RedisClient, type Script, script } from "./connection.ts";
import { ADD, CHANGE } from "./ledger-scripts.ts";

/** Entries that are read at once for a list. */
const PAGE = 100;
/** How often a change is tried again when another process changed the entry meanwhile. */
const MAX_TRIES = 50;
/** How long replicas may take to acknowledge a write. */
const ACK_MS = 100;

export interface RedisLedgerOptions {
  prefix: string;
  time: GivenTime;
  /** Replicas that must have a write before it counts; 0 where there are none. */
  minAcks: number;
}

/** An entry and the text that it was read from. */
interface Found {
  text: string;
  entry: LedgerEntry;
}

/**
 * The ledger for many processes. An entry is changed only if it is still as it was read, and what awaits approval only within its time by the clock
 * of the store. What a process carries out is left to it until its lease has ended.
 */
export function redisLedger(client: RedisClient, options: RedisLedgerOptions): LedgerStore {
  return new RedisLedger(client, options);
}

class RedisLedger implements LedgerStore {
  readonly #client: RedisClient;
  readonly #options: RedisLedgerOptions;
  readonly #own: string;
  readonly #add: Script;
  readonly #change: Script;

  constructor(client: RedisClient, options: RedisLedgerOptions) {
    this.#client = client;
    this.#options = options;
    this.#own = `${options.prefix}{ledger}:`;
    this.#add = script(client, "toolweirAddEntry", ADD);
    this.#change = script(client, "toolweirChangeEntry", CHANGE);
  }

  add(entry: LedgerEntry, maxPending?: number): Promise<boolean> {
    return guarded(async () => {
      const { id, state, createdAt, expiresAt, updatedAt, caller, runId } = entry;
      const times = [createdAt, expiresAt, updatedAt];
      const places = [place(caller), place(runId)];
      const given = [id, JSON.stringify(entry), state, ...times, ...places, maxPending ?? "", KEPT_MS, SWEEP];
      const isAdded = (await this.#add([this.#own], [this.#options.time(), ...given])) === 1;
      if (isAdded) await this.#acknowledged();
      return isAdded;
    });
  }

  get(id: string): Promise<LedgerEntry | undefined> {
    return guarded(async () => {
      const [now, text] = await Promise.all([this.#now(), this.#client.hget(this.#entries, id)]);
      return text === null ? undefined : effective(parse(text), now);
    });
  }

  list({ states, caller, runId, limit }: LedgerFilter): Promise<LedgerEntry[]> {
    return guarded(async () => {
      const now = await this.#now();
      const fits = (entry: LedgerEntry) =>
        (states === undefined || states.includes(entry.state)) &&
        (caller === undefined || entry.caller === caller) &&
        (runId === undefined || entry.runId === runId);
      const index = this.#indexFor(caller, runId);
      const found = new Map<string, LedgerEntry>();
      for (let from = 0; found.size < limit; from += PAGE) {
        const ids = await this.#client.zrevrange(index, from, from + PAGE - 1);
        for (const { entry } of await this.#read(ids)) {
          const seen = effective(entry, now);
          if (fits(seen)) found.set(seen.id, seen);
        }
        if (ids.length < PAGE) break;
      }
      return [...found.values()].slice(0, limit);
    });
  }

  change(
    id: string,
    { from, leaseOwner }: Parameters<LedgerStore["change"]>[1],
    change: LedgerChange,
  ): Promise<LedgerEntry | undefined> {
    return guarded(async () => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const [now, text] = await Promise.all([this.#now(), this.#client.hget(this.#entries, id)]);
        if (text === null) return undefined;
        const entry = parse(text);
        if (!from.includes(effective(entry, now).state)) return undefined;
        if (leaseOwner !== undefined && entry.leaseOwner !== leaseOwner) return undefined;
        const changed = await this.#write({ text, entry }, change, now);
        if (changed) return changed;
      }
      throw new Error("the entry changes faster than it can be written");
    });
  }

  expire(): Promise<LedgerEntry[]> {
    return guarded(async () => {
      const now = await this.#now();
      const ids = await this.#client.zrangebyscore(this.#key("pending"), "-inf", now, "LIMIT", 0, BATCH);
      const due = await this.#read(ids);
      const changed = await Promise.all(due.map((found) => this.#write(found, { state: "expired" }, now)));
      return changed.flatMap((entry) => entry ?? []);
    });
  }

  recover(owner: string): Promise<{ unknown: LedgerEntry[]; open: LedgerEntry[] }> {
    return guarded(async () => {
      const now = await this.#now();
      const found = await this.#read(await this.#client.zrange(this.#key("open"), 0, String(BATCH - 1)));
      const left = found.filter(({ entry }) => entry.state === "approved" || isAbandoned(entry, owner, now));
      const open = left.filter(({ entry }) => entry.state === "approved" || knowsKey(entry, now));
      const lost = left.filter((one) => !open.includes(one));
      const end = { state: "outcome_unknown", leaseOwner: undefined, leaseUntil: 0 } as const;
      const unknown = await Promise.all(lost.map((one) => this.#write(one, end, now)));
      return { unknown: unknown.flatMap((entry) => entry ?? []), open: open.map(({ entry }) => entry) };
    });
  }

  countPending(): Promise<number> {
    return guarded(async () => this.#client.zcount(this.#key("pending"), `(${await this.#now()}`, "+inf"));
  }

  /** `undefined` where somebody else was first, or what awaited approval has expired. */
  async #write({ text, entry }: Found, change: LedgerChange, now: number): Promise<LedgerEntry | undefined> {
    const next = { ...entry, ...change, updatedAt: now };
    const waits = entry.state === "awaiting_approval" && next.state !== "expired";
    const written = [JSON.stringify(next), next.state, next.expiresAt, next.updatedAt];
    const given = [entry.id, text, ...written, waits ? entry.expiresAt : ""];
    if ((await this.#change([this.#own], [this.#options.time(), ...given])) !== 1) return undefined;
    await this.#acknowledged();
    return next;
  }

  async #read(ids: readonly string[]): Promise<Found[]> {
    if (ids.length === 0) return [];
    const texts = await this.#client.hmget(this.#entries, ...ids);
    return texts.flatMap((text) => (text === null ? [] : [{ text, entry: parse(text) }]));
  }

  /** What was written counts only when enough replicas have it: a failover must not undo it. */
  async #acknowledged(): Promise<void> {
    const { minAcks } = this.#options;
    if (minAcks === 0) return;
    const acks = Number(await this.#client.call("WAIT", String(minAcks), String(ACK_MS)));
    if (acks < minAcks) throw new Error(`${acks} of ${minAcks} replicas have the write`);
  }

  async #now(): Promise<number> {
    const given = this.#options.time();
    if (given !== "") return given;
    const [seconds, micros] = await this.#client.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  #indexFor(caller: string | undefined, runId: string | undefined): string {
    if (runId !== undefined) return this.#key(`run:${place(runId)}`);
    return this.#key(caller === undefined ? "time" : `caller:${place(caller)}`);
  }

  #key(name: string): string {
    return `${this.#own}${name}`;
  }

  get #entries(): string {
    return this.#key("entries");
  }
}

const parse = (text: string): LedgerEntry => JSON.parse(text) as LedgerEntry;

/** Names come from outside: what they hold stays out of the store's keys. */
const place = (name: string): string => hash("sha256", name);

function isAbandoned({ state, leaseOwner, leaseUntil }: LedgerEntry, owner: string, now: number): boolean {
  return state === "executing" && leaseOwner !== owner && leaseUntil <= now;
}
