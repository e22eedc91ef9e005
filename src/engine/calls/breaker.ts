import { SlidingCount } from "./sliding-count.ts";

/** Attempts within the window below which nothing is concluded, and the share of failures from which it opens. */
const MIN_ATTEMPTS = 20;
const SHARE = 0.5;
const PROBE_AFTER_MS = 1_000;

/** Decides whether something that may be failing is tried. */
export class Breaker {
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #onOpen: () => void;
  #attempts: SlidingCount;
  #failures: SlidingCount;
  /** When the next probe may begin; `undefined` while it is closed. */
  #probeAt: number | undefined;
  /** Grows when it opens or closes: what was begun before says nothing about what is now. */
  #era = 0;

  /** `now` gives milliseconds that do not go backwards. */
  constructor(windowMs: number, now: () => number, onOpen: () => void) {
    this.#windowMs = windowMs;
    this.#now = now;
    this.#onOpen = onOpen;
    this.#attempts = new SlidingCount(windowMs, now);
    this.#failures = new SlidingCount(windowMs, now);
  }

  /** Nothing but a probe is let through. */
  get isOpen(): boolean {
    return this.#probeAt !== undefined;
  }

  /**
   * Leave to make one attempt; what it returns is to be told how the attempt ended, if that says anything. `undefined`: not now. While
   * it is open, one attempt a second may be made.
   */
  begin(): ((failed: boolean) => void) | undefined {
    if (this.#probeAt !== undefined) {
      if (this.#now() < this.#probeAt) return undefined;
      this.#probeAt = this.#now() + PROBE_AFTER_MS;
    }
    const era = this.#era;
    return (failed) => {
      if (era === this.#era) this.#ended(failed);
    };
  }

  /** It opens when at least half of at least 20 in the window have failed; the success of a probe closes it. */
  #ended(failed: boolean): void {
    if (this.#probeAt !== undefined) {
      if (!failed) this.#close();
      return;
    }
    this.#attempts.add();
    if (!failed) return;
    this.#failures.add();
    const attempts = this.#attempts.sum;
    if (attempts < MIN_ATTEMPTS || this.#failures.sum < SHARE * attempts) return;
    this.#era++;
    this.#probeAt = this.#now() + PROBE_AFTER_MS;
    this.#onOpen();
  }

  /** What was before is forgotten, or the next failure would open it again. */
  #close(): void {
    this.#era++;
    this.#probeAt = undefined;
    this.#attempts = new SlidingCount(this.#windowMs, this.#now);
    this.#failures = new SlidingCount(this.#windowMs, this.#now);
  }
}
