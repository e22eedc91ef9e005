import { hash } from "node:crypto";
import { mergePatch } from "../../core/json/merge-patch.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { ChangingDocuments } from "../changing-documents.ts";
import type { DocumentStore } from "../ports/stores.ts";

/** Runs that a session remembers. */
const MAX_RUNS = 50;
/** Bounds of the state: bytes as JSON, keys, and levels of objects and arrays in each other, its own counted. */
const MAX_STATE_BYTES = 64 * 1024;
const MAX_STATE_KEYS = 256;
const MAX_STATE_DEPTH = 32;

/** One run of a session. Times are Unix milliseconds. */
export interface SessionRun {
  run_id: string;
  started_at: number;
  ended_at: number;
  stop_reason: string;
}

/** What was used up in a session. */
export interface SessionCounters {
  runs: number;
  rounds: number;
  tool_calls: number;
  tokens: number;
  /** In millionths of the currency unit that prices are in. */
  cost_micros: number;
}

/** What is kept of a session. Times are Unix milliseconds. */
export interface SessionData {
  /** Written by tools (`sets`) and over the API. */
  state: JsonObject;
  /** By tool: calls that succeeded. */
  tools_used: Record<string, { count: number; last_at: number }>;
  counters: SessionCounters;
  /** The latest runs, oldest first. */
  runs: SessionRun[];
  /** Until then admin tools may be used. */
  admin_until: number | null;
  created_at: number;
  updated_at: number;
}

/** A session as it is found. */
export interface KeptSession {
  data: SessionData;
  expiresAt: number;
}

/** Names of a session: ids are labels inside the space of one caller's key. */
export interface SessionName {
  caller: string;
  id: string;
}

/** A session that nothing is known of. */
export function emptySession(now: number): SessionData {
  return {
    state: {},
    tools_used: {},
    counters: { runs: 0, rounds: 0, tool_calls: 0, tokens: 0, cost_micros: 0 },
    runs: [],
    admin_until: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * The sessions that clients have named, in the store.
 *
 * 1. A session belongs to the caller that named it: under another key the same id is another session.
 * 2. Changes at the same time are all kept: each is made on what the one before left.
 * 3. A session is forgotten when it has not changed for its time to live.
 */
export class SessionBook {
  readonly #documents: ChangingDocuments<SessionData>;
  readonly #now: () => number;
  readonly #ttlMs: number;

  /** `now` gives Unix milliseconds. */
  constructor(documents: DocumentStore, now: () => number, ttlMs: number) {
    this.#documents = new ChangingDocuments(documents, "session", now);
    this.#now = now;
    this.#ttlMs = ttlMs;
  }

  async load(name: SessionName): Promise<KeptSession | undefined> {
    const kept = await this.#documents.load(keyOf(name));
    return kept && { data: kept.value, expiresAt: kept.expiresAt };
  }

  /** Changes a session, a new one if there is none. `change` may be called more than once, each time with what is there. */
  async change(name: SessionName, change: (data: SessionData) => SessionData): Promise<KeptSession> {
    let data = emptySession(this.#now());
    const changed = await this.#documents.change(keyOf(name), this.#ttlMs, (kept) => {
      const at = this.#now();
      data = { ...change(kept ?? emptySession(at)), updated_at: at };
      return data;
    });
    return { data, expiresAt: changed?.expiresAt ?? this.#now() + this.#ttlMs };
  }

  /** `false` if there is none. */
  delete(name: SessionName): Promise<boolean> {
    return this.#documents.delete(keyOf(name));
  }
}

/** Names come from clients: what they hold stays out of the store's keys. */
const keyOf = ({ caller, id }: SessionName): string => hash("sha256", JSON.stringify([caller, id]));

/** The state with keys written, null removing one; `undefined` if it would be too large. */
export function patchedState(state: JsonObject, patch: JsonObject): JsonObject | undefined {
  const entries = new Map(Object.entries(state));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) entries.delete(key);
    else entries.set(key, value);
  }
  const patched: JsonObject = Object.fromEntries(entries);
  return fits(patched) ? patched : undefined;
}

/** The state with a JSON Merge Patch (RFC 7396); `undefined` if it would be too large. */
export function mergedState(state: JsonObject, patch: JsonObject): JsonObject | undefined {
  const merged = mergePatch(state, patch) as JsonObject;
  return fits(merged) ? merged : undefined;
}

function fits(state: JsonObject): boolean {
  if (Object.keys(state).length > MAX_STATE_KEYS || isDeeper(state, MAX_STATE_DEPTH)) return false;
  return Buffer.byteLength(JSON.stringify(state)) <= MAX_STATE_BYTES;
}

function isDeeper(value: JsonValue, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

/** The data after a run. */
export function withRun(data: SessionData, run: SessionRun, used: SessionCounters): SessionData {
  const { counters, runs } = data;
  return {
    ...data,
    counters: {
      runs: counters.runs + used.runs,
      rounds: counters.rounds + used.rounds,
      tool_calls: counters.tool_calls + used.tool_calls,
      tokens: counters.tokens + used.tokens,
      cost_micros: (counters.cost_micros ?? 0) + used.cost_micros,
    },
    runs: [...runs, run].slice(-MAX_RUNS),
  };
}

/** The data after calls of tools that succeeded. */
export function withUses(
  data: SessionData,
  uses: ReadonlyMap<string, { count: number; last_at: number }>,
): SessionData {
  if (uses.size === 0) return data;
  const used = new Map(Object.entries(data.tools_used));
  for (const [tool, { count, last_at }] of uses) {
    used.set(tool, { count: (used.get(tool)?.count ?? 0) + count, last_at });
  }
  return { ...data, tools_used: Object.fromEntries(used) };
}
