import type { JsonObject } from "../../core/json/value.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { GatewayError } from "../../errors.ts";
import type { ToolOutcomeResult } from "../calls/attempt.ts";
import { mayHaveActed } from "../calls/write-policy.ts";
import type { ApprovalReason, LedgerChange, LedgerEntry, LedgerState, LedgerStore } from "../ports/ledger.ts";
import type { ToolMessage } from "../results/results.ts";
import { describeCall } from "./described.ts";

/** How long the process that carries out a call is believed to be alive after it last said so. */
const LEASE_MS = 15_000;
const RENEW_MS = 5_000;

/** Places at which a test may end the process. */
export type CrashPoint = "after_intent" | "after_answer" | "after_commit" | "after_decision";

export interface WritesDeps {
  ledger: LedgerStore;
  /** Unix milliseconds. */
  now(): number;
  newId(prefix: string): string;
  /** Told of every place that the work has come to. */
  reached?: (point: CrashPoint) => void;
}

/** A call that may change something, before anything is known of it. */
export interface CallFacts {
  tool: ToolDefinition;
  args: JsonObject;
  caller: string;
  sessionId: string;
  isSessionNamed: boolean;
  runId: string;
  callId: string;
  user: string | undefined;
  idempotencyKey: string;
}

/** What came of a call that was sent. */
export interface Performed {
  outcome: ToolOutcomeResult;
  message: ToolMessage;
}

/** Another process has given the call up, which therefore must not be sent. */
class LeaseLost extends GatewayError {
  constructor() {
    super("store_unavailable", "The call was given up by another gateway meanwhile. It was not sent.");
  }
}

/**
 * Sends calls that may change something, each behind an intent in the ledger.
 *
 * 1. Nothing is sent before the ledger holds that it will be.
 * 2. What came of it is written down, if need be later. A process that dies in between leaves its intent behind.
 * 3. While a call is carried out its lease is renewed. A process that was stopped for so long that its lease may be over asks before it
 *    sends: meanwhile another one may have given the call up.
 */
export class Writes {
  /** In whose name calls are leased: another one for every process. */
  readonly owner: string;
  readonly #deps: WritesDeps;
  /** What the ledger did not take yet. */
  readonly #unwritten = new Map<string, LedgerChange>();
  readonly #open = new Set<Promise<unknown>>();

  constructor(deps: WritesDeps) {
    this.#deps = deps;
    this.owner = deps.newId("gw_");
  }

  /** The entry of a call that a person has to decide about, until `expiresAt`; it is not stored yet. */
  proposal(facts: CallFacts, approval: Exclude<ApprovalReason, "none">, expiresAt: number): LedgerEntry {
    return this.#entry(facts, { state: "awaiting_approval", approval, expiresAt });
  }

  /** Stores that a call is about to be sent. Throws `store_unavailable`, and then it must not be. */
  async intend(facts: CallFacts): Promise<LedgerEntry> {
    const now = this.#deps.now();
    const entry = {
      ...this.#entry(facts, { state: "executing", approval: "none", expiresAt: now }),
      ...this.#lease(now),
      attempt: 1,
      firstSentAt: now,
    };
    await this.#deps.ledger.add(entry);
    return entry;
  }

  /** The same for a call that the ledger holds. `undefined`: it is not in this state any more. Throws `store_unavailable`. */
  take(
    { id, state, attempt, firstSentAt, leaseOwner }: LedgerEntry,
    change: LedgerChange = {},
  ): Promise<LedgerEntry | undefined> {
    const now = this.#deps.now();
    const when = { from: [state], ...(state === "executing" && leaseOwner !== undefined && { leaseOwner }) };
    return this.#deps.ledger.change(id, when, {
      ...change,
      state: "executing",
      ...this.#lease(now),
      attempt: attempt + 1,
      firstSentAt: firstSentAt ?? now,
      result: undefined,
      error: undefined,
    });
  }

  /** Sends a call whose intent is stored, and writes down what came of it. Throws `store_unavailable` where it is not this process's any more. */
  perform(
    entry: LedgerEntry,
    tool: ToolDefinition,
    send: () => Promise<Performed>,
  ): Promise<Performed & { state: LedgerState }> {
    const work = this.#perform(entry, tool, send);
    this.#open.add(work);
    const forget = () => void this.#open.delete(work);
    work.then(forget, forget);
    return work;
  }

  async #perform(entry: LedgerEntry, tool: ToolDefinition, send: () => Promise<Performed>) {
    const { id } = entry;
    const renewal = setInterval(() => void this.#renew(id).catch(() => {}), RENEW_MS).unref();
    try {
      this.#deps.reached?.("after_intent");
      await this.#ensureLease(entry);
      const done = await send();
      this.#deps.reached?.("after_answer");
      const state = stateAfter(tool, done);
      const { content, errorKind } = done.message;
      await this.#settle(id, { state, result: content, error: errorKind });
      this.#deps.reached?.("after_commit");
      return { ...done, state };
    } catch (error) {
      if (!(error instanceof LeaseLost)) await this.#settle(id, { state: "outcome_unknown" });
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  async #ensureLease({ id, leaseUntil }: LedgerEntry): Promise<void> {
    if (leaseUntil - this.#deps.now() > LEASE_MS / 2) return;
    if ((await this.#renew(id)) === undefined) throw new LeaseLost();
  }

  /** Resolves when nothing is being carried out. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  /** Writes down what the ledger did not take before. */
  async flush(): Promise<void> {
    for (const [id, change] of this.#unwritten) {
      await this.#end(id, change);
      this.#unwritten.delete(id);
    }
  }

  /** What came of the call is known here; a ledger that does not take it now is told later. */
  async #settle(id: string, change: LedgerChange): Promise<void> {
    await this.#end(id, change).catch(() => void this.#unwritten.set(id, change));
  }

  #end(id: string, change: LedgerChange): Promise<unknown> {
    const when = { from: ["executing"] as const, leaseOwner: this.owner };
    return this.#deps.ledger.change(id, when, { ...change, leaseOwner: undefined, leaseUntil: 0 });
  }

  #renew(id: string): Promise<unknown> {
    const when = { from: ["executing"] as const, leaseOwner: this.owner };
    return this.#deps.ledger.change(id, when, { leaseUntil: this.#deps.now() + LEASE_MS });
  }

  #lease(now: number): Pick<LedgerEntry, "leaseOwner" | "leaseUntil"> {
    return { leaseOwner: this.owner, leaseUntil: now + LEASE_MS };
  }

  #entry(facts: CallFacts, begin: Pick<LedgerEntry, "state" | "approval" | "expiresAt">): LedgerEntry {
    const { tool, args, ...rest } = facts;
    const now = this.#deps.now();
    return {
      id: this.#deps.newId("apr_"),
      ...begin,
      ...rest,
      tool: tool.name,
      level: tool.level,
      ...describeCall(tool, args, facts),
      keyTtlMs: (tool.idempotency?.ttl_s ?? 0) * 1000,
      fourEyes: tool.four_eyes === true,
      createdAt: now,
      updatedAt: now,
      ...UNDECIDED,
    };
  }
}

const UNDECIDED = {
  askedArguments: undefined,
  decision: undefined,
  decidedBy: undefined,
  decidedAt: undefined,
  reason: undefined,
  attempt: 0,
  firstSentAt: undefined,
  leaseOwner: undefined,
  leaseUntil: 0,
  result: undefined,
  error: undefined,
  resolvedBy: undefined,
  note: undefined,
} as const;

/** The state of a call that came to this end. */
function stateAfter(tool: ToolDefinition, { outcome, message }: Performed): LedgerState {
  if (mayHaveActed(tool, outcome)) return "outcome_unknown";
  return message.ok ? "succeeded" : "failed";
}
