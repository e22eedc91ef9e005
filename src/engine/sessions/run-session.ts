import type { JsonObject } from "../../core/json/value.ts";
import type { StateFacts } from "../../core/rules/state-rules.ts";
import { isUnavailable } from "../../errors.ts";
import {
  emptySession,
  patchedState,
  type SessionBook,
  type SessionCounters,
  type SessionData,
  type SessionName,
  type SessionRun,
  withRun,
  withUses,
} from "./session-book.ts";

/**
 * The session of one run, as far as the run has to do with it.
 *
 * 1. What the client did not name is not kept: its state lives as long as the run.
 * 2. State that a call has set is in the store before the next call is judged; uses of tools and counters are when the run has ended.
 */
export class RunSession {
  readonly #book: SessionBook;
  readonly #name: SessionName;
  readonly #isNamed: boolean;
  readonly #now: () => number;
  #data: SessionData;
  #isKnown = true;
  /** Calls that succeeded and are not in the store yet. */
  readonly #uses = new Map<string, { count: number; last_at: number }>();

  constructor(book: SessionBook, name: SessionName, isNamed: boolean, now: () => number) {
    this.#book = book;
    this.#name = name;
    this.#isNamed = isNamed;
    this.#now = now;
    this.#data = emptySession(now());
  }

  /** Takes in what other runs of the session have changed. While the store does not answer, nothing is known of the session. */
  async refresh(): Promise<void> {
    if (!this.#isNamed) return;
    try {
      const kept = await this.#book.load(this.#name);
      this.#data = kept?.data ?? emptySession(this.#now());
      this.#isKnown = true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#isKnown = false;
    }
  }

  /** Whether the store has told of the session when it was asked last. If not, nothing may run that depends on it. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Whether admin tools may be used now. */
  get isElevated(): boolean {
    return this.#isKnown && (this.#data.admin_until ?? 0) > this.#now();
  }

  /** What preconditions of tools may know of the session. */
  get facts(): Pick<StateFacts, "state" | "toolsUsed"> {
    const used = withUses(this.#data, this.#uses).tools_used;
    return {
      state: this.#data.state,
      toolsUsed: Object.fromEntries(Object.entries(used).map(([tool, { count }]) => [tool, count])),
    };
  }

  /** Tools that have succeeded in the session, the latest first. */
  get latestTools(): string[] {
    const used = Object.entries(withUses(this.#data, this.#uses).tools_used);
    return used.sort(([, a], [, b]) => b.last_at - a.last_at).map(([tool]) => tool);
  }

  /** A call of the tool succeeded. */
  used(tool: string): void {
    const count = (this.#uses.get(tool)?.count ?? 0) + 1;
    this.#uses.set(tool, { count, last_at: this.#now() });
  }

  /** Writes keys of the state, null removes one. `false` if it would be too large; then nothing has changed. */
  async set(patch: JsonObject): Promise<boolean> {
    const local = patchedState(this.#data.state, patch);
    if (!local) return false;
    if (!this.#isNamed) {
      this.#data = { ...this.#data, state: local };
      return true;
    }
    let fits = true;
    const { data } = await this.#book.change(this.#name, (data) => {
      const state = patchedState(data.state, patch);
      fits = state !== undefined;
      return { ...data, state: state ?? data.state };
    });
    this.#data = data;
    return fits;
  }

  /** The run is over. */
  async ended(run: SessionRun, used: SessionCounters): Promise<void> {
    if (!this.#isNamed) return;
    await this.#book.change(this.#name, (data) => withUses(withRun(data, run, used), this.#uses));
    this.#uses.clear();
  }
}
