import { GatewayError } from "../../errors.ts";
import type { LedgerEntry, LedgerState } from "../ports/ledger.ts";
import type { LedgerNote, Telemetry } from "../ports/telemetry.ts";
import { refusalMessage } from "../results/results.ts";
import { CarryOut, type CarryOutDeps } from "./carry-out.ts";
import { hashOf, readExact } from "./described.ts";
import { editArguments } from "./edit.ts";
import { APPROVAL_TEXTS } from "./texts.ts";
import type { CallFacts, CrashPoint } from "./writes.ts";

/** Calls of one key that may wait for a person at the same time. */
export const MAX_PENDING = 100;
/** How often it is looked at what has expired, and what others have changed. */
const TICK_MS = 5_000;
const POLL_MS = 500;

export interface ApprovalsDeps extends CarryOutDeps {
  telemetry: Pick<Telemetry, "ledger">;
  /** How long a person may take. */
  ttlMs: number;
  /** Tells somebody outside that an approval is asked for, or was decided. */
  notify?: (event: "requested" | "decided", entry: LedgerEntry) => void;
  reached?: (point: CrashPoint) => void;
}

/** Whoever looks at approvals, or decides. */
export interface Decider {
  name: string;
  /** May decide, and see the approvals of all. */
  mayDecide: boolean;
}

export interface Decision {
  kind: "approved" | "denied";
  /** JSON text of other arguments than those that were asked for. */
  arguments?: string | undefined;
  /** Hash of the arguments that whoever decides has seen. */
  argumentsHash?: string | undefined;
  reason?: string | undefined;
}

/**
 * Calls that a person has to decide about.
 *
 * 1. A decision is one, final, and made only here: nothing that a model or a user writes is one.
 * 2. It is good for one execution of exactly the request that was shown, and that only if the tool and the rights of whoever asked are the same.
 * 3. What is approved is carried out at once, whether or not anybody waits for it.
 */
export class Approvals {
  readonly #deps: ApprovalsDeps;
  readonly #carryOut: CarryOut;
  readonly #ticker: NodeJS.Timeout;
  readonly #waiting = new Set<() => void>();
  readonly #stopping = new AbortController();

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
    this.#carryOut = new CarryOut(deps, (entry, end) => this.#changed(entry.state, entry, end));
    this.#ticker = setInterval(() => void this.tick().catch(() => {}), TICK_MS).unref();
  }

  /** Begins with nothing more, and nobody waits for decisions any more; what is being carried out goes on. */
  stop(): void {
    this.#carryOut.stop();
    this.#stopping.abort();
    clearInterval(this.#ticker);
  }

  /** To be called before the first request: takes up what was left behind. */
  recover(): Promise<void> {
    return this.#carryOut.recover(true);
  }

  async tick(): Promise<void> {
    const { ledger, writes } = this.#deps;
    await writes.flush();
    for (const entry of await ledger.expire()) this.#changed("expired", entry);
    await this.#carryOut.recover(false);
  }

  /** What a person will be asked about a call. */
  proposal(facts: CallFacts, approval: "level" | "repaired"): LedgerEntry {
    const { writes, now, ttlMs } = this.#deps;
    return writes.proposal(facts, approval, now() + ttlMs);
  }

  /** Asks a person. `false`: too many calls of this caller wait already. Throws `store_unavailable`. */
  async request(entry: LedgerEntry): Promise<boolean> {
    if (!(await this.#deps.ledger.add(entry, MAX_PENDING))) return false;
    this.#changed("requested", entry);
    return true;
  }

  get(id: string): Promise<LedgerEntry | undefined> {
    return this.#deps.ledger.get(id);
  }

  /** The entry, for whoever asked for the call and for those who decide. Throws `approval_not_found`. */
  async find(id: string, by: Decider): Promise<LedgerEntry> {
    const entry = await this.#deps.ledger.get(id);
    if (entry && (by.mayDecide || entry.caller === by.name)) return entry;
    throw new GatewayError("approval_not_found", "There is no such approval.");
  }

  list(by: Decider, filter: { states?: readonly LedgerState[]; limit: number }): Promise<LedgerEntry[]> {
    return this.#deps.ledger.list({ ...filter, ...(!by.mayDecide && { caller: by.name }) });
  }

  /**
   * Decides. Gives the entry as it is then: the same decision again changes nothing. Throws `approval_not_found`, `insufficient_scope`,
   * `self_approval_refused`, `approval_already_decided`, `approval_expired`, `approval_stale`, and for other arguments `invalid_value`.
   */
  async decide(id: string, by: Decider, decision: Decision): Promise<LedgerEntry> {
    const entry = await this.decidable(id, by);
    const made = madeBefore(entry, decision);
    if (made) return made;
    if (decision.argumentsHash !== undefined && decision.argumentsHash !== entry.argumentsHash) {
      throw stale("The arguments are not the ones that you have seen.");
    }
    const { kind, reason, arguments: args } = decision;
    const edited =
      kind === "approved" && args !== undefined ? await editArguments(this.#deps, entry, args) : {};
    if (kind === "approved") await this.#checkAuthority(entry);
    const change = {
      ...edited,
      state: kind,
      decision: kind,
      reason,
      decidedBy: by.name,
      decidedAt: this.#deps.now(),
    };
    const decided = await this.#deps.ledger.change(id, { from: ["awaiting_approval"] }, change);
    // Somebody else was first, or it has just expired: it is looked at again.
    if (!decided) return this.decide(id, by, decision);
    this.#deps.reached?.("after_decision");
    this.#changed(kind, decided);
    return kind === "approved" ? this.#carryOut.begin(decided) : decided;
  }

  /** The entry, if this one may decide about it. Throws `approval_not_found`, `insufficient_scope` or `self_approval_refused`. */
  async decidable(id: string, by: Decider): Promise<LedgerEntry> {
    const entry = await this.find(id, by);
    if (!by.mayDecide) {
      throw new GatewayError("insufficient_scope", "This key may not decide about approvals.");
    }
    if (entry.fourEyes && entry.caller === by.name) {
      throw new GatewayError(
        "self_approval_refused",
        "Somebody else has to decide: this key asked for the call itself.",
      );
    }
    return entry;
  }

  /** A tool that has changed, or a caller who may not do it any more, ends the matter here. */
  async #checkAuthority(entry: LedgerEntry): Promise<void> {
    const obstacle = await this.#carryOut.obstacle(entry);
    if (!obstacle) return;
    const ended = await this.#deps.ledger.change(
      entry.id,
      { from: ["awaiting_approval"] },
      { state: obstacle },
    );
    if (ended) this.#changed(obstacle, ended);
    throw stale(WHY_STALE[obstacle]);
  }

  /** Nothing that was asked for in a session is done when it is over. */
  async sessionClosed(caller: string, sessionId: string): Promise<void> {
    const { ledger } = this.#deps;
    const filter = { states: ["awaiting_approval"], caller, limit: MAX_PENDING } as const;
    for (const entry of await ledger.list(filter)) {
      if (entry.sessionId !== sessionId) continue;
      const closed = await ledger.change(entry.id, { from: ["awaiting_approval"] }, { state: "cancelled" });
      if (closed) this.#changed("cancelled", closed);
    }
  }

  /** An operator found out what came of a call whose outcome was unknown. Throws `not_resolvable`. */
  async resolve(
    id: string,
    by: Decider,
    outcome: "succeeded" | "failed",
    note: string,
  ): Promise<LedgerEntry> {
    const entry = await this.#unknown(id, by);
    const text = APPROVAL_TEXTS[this.#deps.locale].resolved(outcome === "succeeded", note);
    const call = { id: entry.callId, name: entry.tool };
    const resolved = await this.#deps.ledger.change(
      id,
      { from: ["outcome_unknown"] },
      { state: outcome, resolvedBy: by.name, note, result: refusalMessage(call, "resolved", text).content },
    );
    if (!resolved) throw notResolvable();
    this.#changed(outcome, resolved);
    return resolved;
  }

  /** Carries out a call again whose outcome is unknown: twice, if it was carried out before. Throws `not_resolvable`. */
  async retry(id: string, by: Decider, acceptsRisk: boolean): Promise<LedgerEntry> {
    const entry = await this.#unknown(id, by);
    if (!acceptsRisk && entry.keyTtlMs === 0) {
      throw new GatewayError(
        "invalid_value",
        `The call may have been carried out: send {"accept_duplicate_risk": true} to make it all the same.`,
        { param: "accept_duplicate_risk" },
      );
    }
    const obstacle = await this.#carryOut.obstacle(entry);
    if (obstacle) throw stale(WHY_STALE[obstacle]);
    return this.#carryOut.begin(entry, { resolvedBy: by.name });
  }

  async #unknown(id: string, by: Decider): Promise<LedgerEntry> {
    const entry = await this.decidable(id, by);
    if (entry.state === "outcome_unknown") return entry;
    throw notResolvable();
  }

  /** The entries of these ids, as soon as all of them are as `isThere` wants, the time is over, `signal` aborts or the gateway stops. */
  async until(
    ids: readonly string[],
    isThere: (entry: LedgerEntry) => boolean,
    ms: number,
    signal: AbortSignal,
  ): Promise<LedgerEntry[]> {
    const endsAt = performance.now() + ms;
    const until = AbortSignal.any([signal, this.#stopping.signal]);
    for (;;) {
      const found = await Promise.all(ids.map((id) => this.#deps.ledger.get(id)));
      const entries = found.filter((entry) => entry !== undefined);
      const left = endsAt - performance.now();
      if (entries.every(isThere) || left <= 0 || until.aborted) return entries;
      await this.#nextChange(Math.min(left, POLL_MS), until);
    }
  }

  /** Resolves at the next change in this process, or after a while, in which another one may have changed something. */
  #nextChange(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener("abort", done);
      this.#waiting.add(done);
    });
  }

  #changed(step: LedgerNote["step"], entry: LedgerEntry, end?: LedgerNote["end"]): void {
    const { id, tool, runId, sessionId } = entry;
    this.#deps.telemetry.ledger({ tool, id, runId, sessionId, step, ...(end && { end }) });
    if (step === "requested") this.#deps.notify?.("requested", entry);
    if (DECIDING.has(step)) this.#deps.notify?.("decided", entry);
    for (const wake of [...this.#waiting]) wake();
  }
}

const DECIDING: ReadonlySet<LedgerNote["step"]> = new Set([
  "approved",
  "denied",
  "expired",
  "stale",
  "cancelled",
]);

/** The entry, if this decision was made before; throws where another one was, or none can be made any more. */
function madeBefore(entry: LedgerEntry, { kind, arguments: args }: Decision): LedgerEntry | undefined {
  if (entry.decision === kind && (args === undefined || isSame(entry, args))) return entry;
  if (entry.decision !== undefined || entry.approval === "none") {
    const what =
      entry.decision === undefined
        ? "This call needed no decision."
        : `This call was ${entry.decision} before.`;
    throw new GatewayError("approval_already_decided", what);
  }
  if (entry.state === "expired") throw new GatewayError("approval_expired", "The time to decide is over.");
  if (entry.state === "stale" || entry.state === "cancelled") throw stale(WHY_STALE[entry.state]);
  return undefined;
}

/** Whether other arguments are the ones that were approved. */
function isSame(entry: LedgerEntry, args: string): boolean {
  return hashOf(readExact(args)) === entry.argumentsHash;
}

const WHY_STALE = {
  stale: "The tool was changed since the call was asked for, so nothing can be approved any more.",
  cancelled: "Whoever asked for the call may not do it any more, so nothing can be approved.",
};

const stale = (message: string) => new GatewayError("approval_stale", message);

const notResolvable = () =>
  new GatewayError("not_resolvable", "Only a call whose outcome is unknown can be resolved or made again.");
