import { Breaker } from "./breaker.ts";
import { RetryBudget } from "./retry-budget.ts";

const WINDOW_MS = 10_000;

/**
 * Spares a server that is failing.
 *
 * 1. When at least half of at least 20 attempts in 10 seconds failed, no more are made; once a second one is let through, and its
 *    success lets all of them through again.
 * 2. Retries are at most a fifth of the calls of the last 10 seconds, and 10 in any case: many that fail together must not come back as
 *    three times as many. While no attempts are made, there are no retries either.
 */
export class Health {
  readonly #breaker: Breaker;
  readonly #budget: RetryBudget;

  /** `onOpen` is called when no more attempts are made. `now` gives milliseconds that do not go backwards. */
  constructor(onOpen: () => void, now: () => number = () => performance.now()) {
    this.#breaker = new Breaker(WINDOW_MS, now, onOpen);
    this.#budget = new RetryBudget(WINDOW_MS, now);
  }

  /** No attempts are made but one a second. */
  get isLeftAlone(): boolean {
    return this.#breaker.isOpen;
  }

  /** Leave for an attempt; `first` tells a call from its retries. What it returns is told whether the server failed. */
  begin(first: boolean): ((failed: boolean) => void) | undefined {
    if (first) this.#budget.called();
    return this.#breaker.begin();
  }

  /** Whether another retry may be made now; if so it is counted. */
  mayRetry(): boolean {
    return !this.#breaker.isOpen && this.#budget.take();
  }
}
