import { SlidingCount } from "./sliding-count.ts";

const SHARE = 0.2;
const ALWAYS = 10;

/** How many retries there may be beside the calls of a sliding window of time. */
export class RetryBudget {
  readonly #calls: SlidingCount;
  readonly #retries: SlidingCount;

  /** `now` gives milliseconds that do not go backwards. */
  constructor(windowMs: number, now: () => number) {
    this.#calls = new SlidingCount(windowMs, now);
    this.#retries = new SlidingCount(windowMs, now);
  }

  /** A call was made. */
  called(): void {
    this.#calls.add();
  }

  /** Takes one retry: at most a fifth of the calls in the window, and 10 in any case. `false` if none is left. */
  take(): boolean {
    if (this.#retries.sum + 1 > Math.max(ALWAYS, SHARE * this.#calls.sum)) return false;
    this.#retries.add();
    return true;
  }
}
