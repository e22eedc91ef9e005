import type { JsonValue } from "../../core/json/value.ts";
import { outcomeOf, runAttempts } from "../calls/attempt.ts";
import type { ToolHealth } from "../calls/tool-health.ts";
import { MAX_SENDS } from "../calls/write-policy.ts";
import { type Caller, mayUse } from "../offer.ts";
import type { LedgerChange, LedgerEntry, LedgerState, LedgerStore } from "../ports/ledger.ts";
import type { LedgerNote } from "../ports/telemetry.ts";
import type { ToolTransport } from "../ports/tools.ts";
import { canaryKey, type RegisteredTool, type ToolSnapshot } from "../registry/tool-snapshot.ts";
import { toToolMessage } from "../results/results.ts";
import { patchedState, type SessionBook, withUses } from "../sessions/session-book.ts";
import { argumentsOf, describeCall } from "./described.ts";
import type { Performed, Writes } from "./writes.ts";

export interface CarryOutDeps {
  ledger: LedgerStore;
  writes: Writes;
  transport: ToolTransport;
  health: ToolHealth;
  registry: { snapshot(): ToolSnapshot };
  sessions: SessionBook;
  /** Whoever has a key of this name now. */
  findCaller(name: string): Caller | undefined;
  locale: "en" | "zh";
  /** Unix milliseconds. */
  now(): number;
}

/** From a decision to the begin of what was decided, in another process at the longest. */
const DECIDING_MS = 15_000;

/** The entry as it is then, and how it ended. */
export type OnEnded = (entry: LedgerEntry, end: LedgerNote["end"]) => void;

/** Why a call may not be carried out any more: the tool is another one now, or whoever asked may not use it. */
export type Obstacle = Extract<LedgerState, "stale" | "cancelled">;

/** Carries out approved calls, outside of any run, each once. */
export class CarryOut {
  readonly #deps: CarryOutDeps;
  readonly #onEnded: OnEnded;
  #isStopping = false;

  constructor(deps: CarryOutDeps, onEnded: OnEnded) {
    this.#deps = deps;
    this.#onEnded = onEnded;
  }

  /** From now on nothing is begun: what is approved stays so, until a gateway starts on this store. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Whether what was approved is still what would be sent, and still allowed to whoever asked for it. */
  async obstacle(entry: LedgerEntry): Promise<Obstacle | undefined> {
    const tool = this.#deps.registry.snapshot().forSession(canaryKey(entry)).get(entry.tool);
    if (!tool) return "stale";
    const now = describeCall(tool.definition, argumentsOf(entry), entry);
    if (now.requestHash !== entry.requestHash) return "stale";
    const caller = this.#deps.findCaller(entry.caller);
    if (!caller || !mayUse(caller, tool)) return "cancelled";
    return entry.level === "admin" && !(await this.#isElevated(entry)) ? "cancelled" : undefined;
  }

  async #isElevated({ caller, sessionId }: LedgerEntry): Promise<boolean> {
    const session = await this.#deps.sessions.load({ caller, id: sessionId });
    return (session?.data.admin_until ?? 0) > this.#deps.now();
  }

  /**
   * Begins with a call that is approved, or whose outcome is unknown and may be tried again. Gives the entry as it is then: `executing` if it
   * was begun here; the rest is done meanwhile.
   */
  async begin(entry: LedgerEntry, change: LedgerChange = {}): Promise<LedgerEntry> {
    if (this.#isStopping) return entry;
    const { ledger, writes, registry } = this.#deps;
    const obstacle = await this.obstacle(entry);
    if (obstacle) {
      const changed = await ledger.change(entry.id, { from: [entry.state] }, { state: obstacle });
      if (changed) this.#onEnded(changed, undefined);
      return changed ?? entry;
    }
    const tool = registry.snapshot().forSession(canaryKey(entry)).get(entry.tool);
    const taken = await writes.take(entry, change);
    if (!taken || !tool) return (await ledger.get(entry.id)) ?? entry;
    // A fault of the gateway itself leaves an unknown outcome behind, which is written down before.
    void this.#send(taken, tool).catch(() =>
      this.#onEnded({ ...taken, state: "outcome_unknown" }, undefined),
    );
    return taken;
  }

  async #send(entry: LedgerEntry, tool: RegisteredTool): Promise<void> {
    const { writes, ledger } = this.#deps;
    const { state, outcome, message } = await writes.perform(entry, tool.definition, () =>
      this.#request(entry, tool),
    );
    if (message.ok) await noteInSession(this.#deps, entry, tool, message.data ?? null).catch(() => {});
    const stored = await ledger.get(entry.id).catch(() => undefined);
    const end = { outcome: outcomeOf(outcome.errorKind, message.ok), durationMs: outcome.durationMs };
    this.#onEnded({ ...entry, ...stored, state }, end);
  }

  async #request(entry: LedgerEntry, { definition, select }: RegisteredTool): Promise<Performed> {
    const { transport, health, locale } = this.#deps;
    const attempt = {
      runId: entry.runId,
      callId: entry.callId,
      sessionId: entry.sessionId,
      user: entry.user,
      idempotencyKey: entry.idempotencyKey,
      traceparent: "",
    };
    // What was begun before is sent once more and no further.
    const tool = entry.attempt > 1 ? { ...definition, retry: 0 } : definition;
    const outcome = await runAttempts(tool, argumentsOf(entry), attempt, new AbortController().signal, {
      transport,
      health,
    });
    const call = { id: entry.callId, name: entry.tool };
    return { outcome, message: toToolMessage(call, outcome, definition, { locale, select }) };
  }

  /** The state of an entry that was left behind and is not carried out any more. */
  async #over(entry: LedgerEntry): Promise<LedgerState | undefined> {
    if (entry.state === "approved") return entry.expiresAt <= this.#deps.now() ? "expired" : undefined;
    const isSpent = entry.attempt >= MAX_SENDS || (await this.obstacle(entry)) !== undefined;
    return isSpent ? "outcome_unknown" : undefined;
  }

  /**
   * Takes up what a gateway that ended left behind. What was approved in time and not begun is carried out now; what was being carried out is
   * sent again under its key where its tool knows it, and is of unknown outcome otherwise. While the gateway runs, what was approved just now
   * is left to whoever took the decision.
   */
  async recover(isStart: boolean): Promise<void> {
    const { ledger, writes, now } = this.#deps;
    const { unknown, open } = await ledger.recover(writes.owner);
    for (const entry of unknown) this.#onEnded(entry, undefined);
    const settled = now() - (isStart ? 0 : DECIDING_MS);
    for (const entry of open.filter(({ updatedAt }) => updatedAt <= settled)) {
      const isOver = await this.#over(entry);
      if (!isOver) {
        await this.begin(entry);
        continue;
      }
      const changed = await ledger.change(entry.id, { from: [entry.state] }, { state: isOver });
      if (changed) this.#onEnded(changed, undefined);
    }
  }
}

/** A call that succeeded counts in its session, and writes what its tool says into the state, as it does in a run. */
async function noteInSession(
  { sessions, now, findCaller }: CarryOutDeps,
  entry: LedgerEntry,
  { definition, stateRules }: RegisteredTool,
  result: JsonValue,
): Promise<void> {
  const { caller, sessionId: id, isSessionNamed } = entry;
  if (!isSessionNamed) return;
  const level = findCaller(caller)?.maxLevel ?? "read";
  await sessions.change({ caller, id }, (data) => {
    const toolsUsed = Object.fromEntries(
      Object.entries(data.tools_used).map(([tool, { count }]) => [tool, count]),
    );
    const facts = {
      now: now(),
      sessionId: id,
      caller: { name: caller, level },
      state: data.state,
      toolsUsed,
    };
    const { state } = stateRules.changes(argumentsOf(entry), result, facts);
    const changed = { ...data, state: patchedState(data.state, state) ?? data.state };
    return withUses(changed, new Map([[definition.name, { count: 1, last_at: now() }]]));
  });
}
