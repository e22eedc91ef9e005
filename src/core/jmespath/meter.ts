/** Steps that one evaluation may take: some 100 ms on a slow core. */
const MAX_STEPS = 2_000_000;

/** Why an expression brought no value: it asks for more work than is allowed, or for something that values of this type have not. */
export class SelectFailed extends Error {
  override readonly name = "SelectFailed";
}

/** The work that one evaluation may still do. */
export class Meter {
  #left = MAX_STEPS;

  /** Counts work before it is done. Throws `SelectFailed` once it is too much. */
  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new SelectFailed("it takes too long on a result of this size");
  }
}
