const SLICES = 10;

/** How often something happened within a sliding window of time, to a tenth of the window. */
export class SlidingCount {
  readonly #sliceMs: number;
  readonly #now: () => number;
  /** By slice of time; the oldest is used anew. */
  readonly #counts = new Array<number>(SLICES).fill(0);
  #slice: number;

  /** `now` gives milliseconds that do not go backwards. */
  constructor(windowMs: number, now: () => number) {
    this.#sliceMs = windowMs / SLICES;
    this.#now = now;
    this.#slice = this.#current();
  }

  add(): void {
    this.#forget();
    const at = this.#slice % SLICES;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  get sum(): number {
    this.#forget();
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  #forget(): void {
    const current = this.#current();
    for (let passed = Math.min(current - this.#slice, SLICES); passed > 0; passed--) {
      this.#counts[(current - passed + 1) % SLICES] = 0;
    }
    this.#slice = current;
  }

  #current(): number {
    return Math.floor(this.#now() / this.#sliceMs);
  }
}
