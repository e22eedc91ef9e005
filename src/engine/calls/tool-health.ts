import type { ToolDefinition } from "../../core/tool.ts";
import { ToolFailure, type ToolReply } from "../ports/tools.ts";
import type { ToolErrorKind } from "./attempt.ts";
import { Breaker } from "./breaker.ts";
import { RetryBudget } from "./retry-budget.ts";

/** What one attempt brought, as far as it tells whether the tool is well. */
export interface Attempted {
  reply?: ToolReply;
  failure?: ToolFailure;
  errorKind?: ToolErrorKind;
}

const WINDOW_MS = 10_000;

interface Tended {
  breaker: Breaker;
  budget: RetryBudget;
}

/**
 * Spares tools that are failing.
 *
 * 1. When at least half of at least 20 attempts in 10 seconds failed for reasons of the server (transient, timeout), the tool is not
 *    asked any more; once a second one attempt is let through, and its success lets all of them through again.
 * 2. Retries are at most a fifth of the calls of the last 10 seconds, and 10 in any case: many that fail together must not come back as
 *    three times as many.
 * 3. Each definition is on its own: a changed tool begins afresh.
 */
export class ToolHealth {
  readonly #tended = new WeakMap<ToolDefinition, Tended>();
  readonly #onOpen: (tool: string) => void;
  readonly #now: () => number;

  /** `onOpen` is told the name of a tool that is not asked any more. `now` gives milliseconds that do not go backwards. */
  constructor(onOpen: (tool: string) => void = () => {}, now: () => number = () => performance.now()) {
    this.#onOpen = onOpen;
    this.#now = now;
  }

  /** Makes one attempt, or answers for the tool with the failure `unavailable`. `first` tells a call from its retries. */
  async attempt(tool: ToolDefinition, first: boolean, attempt: () => Promise<Attempted>): Promise<Attempted> {
    const { breaker, budget } = this.#of(tool);
    if (first) budget.called();
    if (!breaker.admits()) {
      const failure = new ToolFailure("unavailable", "too many calls of it failed");
      return { failure, errorKind: "transient" };
    }
    const attempted = await attempt();
    // What the caller did wrong or the tool decided shows that it is there; who left shows nothing.
    if (attempted.errorKind !== "cancelled") breaker.ended(isIll(attempted));
    return attempted;
  }

  /** Whether another retry of this tool may be made now; if so it is counted. */
  mayRetry(tool: ToolDefinition): boolean {
    return this.#of(tool).budget.take();
  }

  #of(tool: ToolDefinition): Tended {
    const known = this.#tended.get(tool);
    if (known) return known;
    const tended = {
      breaker: new Breaker(WINDOW_MS, this.#now, () => this.#onOpen(tool.name)),
      budget: new RetryBudget(WINDOW_MS, this.#now),
    };
    this.#tended.set(tool, tended);
    return tended;
  }
}

const isIll = ({ errorKind }: Attempted): boolean => errorKind === "transient" || errorKind === "timeout";
