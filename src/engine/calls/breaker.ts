import { SlidingCount } from "./sliding-count.ts";

/** Attempts within the window below which nothing is concluded, and the share of failures above which it opens. */
const MIN_ATTEMPTS = 20;
const SHARE = 0.5;
const PROBE_AFTER_MS = 1_000;

/** Decides whether something that may be failing is tried. */
export class Breaker {
  readonly #attempts: SlidingCount;
  #failures: SlidingCount;
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #onOpen: () => void;
  /** When the next probe may begin; `undefined` while it is closed. */
  #probeAt: number | undefined;

  /** `now` gives milliseconds that do not go backwards. */
  constructor(windowMs: number, now: () => number, onOpen: () => void) {
    this.#windowMs = windowMs;
    this.#now = now;
    this.#onOpen = onOpen;
    this.#attempts = new SlidingCount(windowMs, now);
    this.#failures = new SlidingCount(windowMs, now);
  }

  /** Whether an attempt may be made. While it is open, one a second may. */
  admits(): boolean {
    if (this.#probeAt === undefined) return true;
    if (this.#now() < this.#probeAt) return false;
    this.#probeAt = this.#now() + PROBE_AFTER_MS;
    return true;
  }

  /** An attempt has ended. It opens when at least half of at least 20 in the window have failed; a success closes it. */
  ended(failed: boolean): void {
    this.#attempts.add();
    if (failed) this.#failures.add();
    if (this.#probeAt !== undefined) {
      if (!failed) this.#close();
      return;
    }
    const attempts = this.#attempts.sum;
    if (!failed || attempts < MIN_ATTEMPTS || this.#failures.sum < SHARE * attempts) return;
    this.#probeAt = this.#now() + PROBE_AFTER_MS;
    this.#onOpen();
  }

  /** What failed before it opened is forgotten, or the next failure would open it again. */
  #close(): void {
    this.#probeAt = undefined;
    this.#failures = new SlidingCount(this.#windowMs, this.#now);
  }
}
