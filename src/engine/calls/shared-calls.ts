import { hash } from "node:crypto";
import type { ResultCache } from "../ports/result-cache.ts";
import { ToolFailure } from "../ports/tools.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { ToolOutcomeResult } from "./attempt.ts";

/** Who a tool is told that it works for. */
export interface Identity {
  caller: string;
  user: string | undefined;
  /** Absent where the client named none: then the id is different every time and nobody can rely on it. */
  session: string | undefined;
}

/** An outcome, and how it came about. */
export interface SharedOutcome {
  outcome: ToolOutcomeResult;
  /** It is that of a request that was under way for another call. */
  isShared: boolean;
  /** It may be kept for later calls: it is this call's own, and nobody has asked for a newer one meanwhile. */
  isToKeep: boolean;
}

interface Flight {
  outcome: Promise<ToolOutcomeResult>;
  stop: AbortController;
  passengers: number;
  /** A newer request has been made for the same. */
  isOld: boolean;
}

/** The same for calls that may be answered with each other's results; `callKey` is that of the tool's name and arguments. */
export function sharingKey(
  { definition, etag }: RegisteredTool,
  callKey: string,
  identity: Identity,
): string {
  const { caller, user = null, session = null } = identity;
  return hash("sha256", JSON.stringify([callKey, etag, definition.shared ? null : [caller, user, session]]));
}

/**
 * Answers of read tools that serve more than one call.
 *
 * 1. What succeeded is kept for the tool's `cache_ttl_s`; a failure never is.
 * 2. Calls with one key at the same time are one request, of which each gets the outcome, good or bad. It is given up when the last of
 *    them has left.
 */
export class SharedCalls {
  readonly #cache: ResultCache;
  readonly #flights = new Map<string, Flight>();

  constructor(cache: ResultCache) {
    this.#cache = cache;
  }

  /** What an earlier call brought; `ttlMs` 0 asks nothing. */
  async find(key: string, ttlMs: number): Promise<ToolOutcomeResult | undefined> {
    const reply = ttlMs > 0 ? await this.#cache.get(key) : undefined;
    return reply && { reply, attempts: 0, durationMs: 0 };
  }

  /**
   * `request` makes the request with a signal of its own. Aborting `signal` leaves: then the outcome is `cancelled`. With `anew`
   * nobody else's request will do, for it may have begun before something was changed.
   */
  async ask(
    key: string,
    { signal, anew }: { signal: AbortSignal; anew: boolean },
    request: (signal: AbortSignal) => Promise<ToolOutcomeResult>,
  ): Promise<SharedOutcome> {
    const under = this.#flights.get(key);
    if (under && anew) under.isOld = true;
    const joined = anew ? undefined : under;
    const flight = joined ?? this.#begin(key, request);
    flight.passengers++;
    const from = performance.now();
    const outcome = await this.#accompany(key, flight, signal);
    if (!joined) return { outcome, isShared: false, isToKeep: !flight.isOld };
    const durationMs = Math.round(performance.now() - from);
    return { outcome: { ...outcome, durationMs }, isShared: true, isToKeep: false };
  }

  /** The answer succeeded, as the model will be told. */
  async keep(key: string, ttlMs: number, { reply }: ToolOutcomeResult): Promise<void> {
    if (ttlMs > 0 && reply && !reply.truncated) await this.#cache.set(key, reply, ttlMs);
  }

  #begin(key: string, request: (signal: AbortSignal) => Promise<ToolOutcomeResult>): Flight {
    const stop = new AbortController();
    const outcome = request(stop.signal).finally(() => this.#land(key, flight));
    const flight: Flight = { outcome, stop, passengers: 0, isOld: false };
    this.#flights.set(key, flight);
    return flight;
  }

  /** Who comes later makes a request of its own. */
  #land(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }

  async #accompany(key: string, flight: Flight, signal: AbortSignal): Promise<ToolOutcomeResult> {
    const from = performance.now();
    let leave: (() => void) | undefined;
    const left = new Promise<ToolOutcomeResult>((resolve) => {
      leave = () => {
        flight.passengers--;
        if (flight.passengers > 0) return resolve(gone(signal, performance.now() - from));
        // The last one waits for what becomes of the request, which ends at once.
        this.#land(key, flight);
        flight.stop.abort(signal.reason);
      };
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    });
    try {
      return await Promise.race([flight.outcome, left]);
    } finally {
      if (leave) signal.removeEventListener("abort", leave);
    }
  }
}

function gone(signal: AbortSignal, ms: number): ToolOutcomeResult {
  const failure = new ToolFailure("cancelled", "cancelled", { cause: signal.reason });
  return { failure, errorKind: "cancelled", attempts: 0, durationMs: Math.round(ms) };
}
