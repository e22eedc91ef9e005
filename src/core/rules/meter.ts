/** Steps that the rules of one call may take together: some 50 ms on a slow core. */
const MAX_STEPS = 500_000;

/** Ends rules that would take too long; whoever began the work catches it. */
export class RulesTooLong extends Error {
  override readonly name = "RulesTooLong";
}

/** The work that the rules of one call may still do. */
export class Meter {
  #left = MAX_STEPS;

  /** Begins the rules of a call: all work is still allowed. */
  begin(): void {
    this.#left = MAX_STEPS;
  }

  /** Counts work. Throws `RulesTooLong` once it is too much, and each time from then on. */
  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new RulesTooLong();
  }

  /** Expressions can swallow an error, as in `broken || true`; this tells. */
  get isSpent(): boolean {
    return this.#left < 0;
  }
}
