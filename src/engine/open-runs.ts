import { GatewayError } from "../errors.ts";

/** A run that is not at an end this long after its time is over is cut off. */
const GRACE_MS = 60_000;
/** How often the time of runs is looked at where there are no keepalives. */
const TICK_MS = 1_000;

export interface OpenRun {
  readonly stop: AbortController;
  /** Where keepalives go; absent until there is a stream. */
  answer: { keepalive(as: "comment" | "chunk"): void } | undefined;
  /** On the clock of `performance.now()`. */
  readonly endsBy: number;
  /** In the list of open runs. */
  place: number;
}

export interface OpenRunsOptions {
  /** How many there may be. */
  most: number;
  /** How long a run may take. */
  runMs: number;
  keepalive: { every_ms: number; as: "comment" | "chunk" | "off" };
}

/** The runs that go on: admitted up to a number, kept alive and ended when their time is over. */
export class OpenRuns {
  readonly #options: OpenRunsOptions;
  readonly #runs: OpenRun[] = [];
  readonly #ticker: NodeJS.Timeout;
  readonly #onIdle: (() => void)[] = [];

  constructor(options: OpenRunsOptions) {
    this.#options = options;
    const { every_ms, as } = options.keepalive;
    this.#ticker = setInterval(() => this.#tick(), as === "off" ? TICK_MS : every_ms / 2).unref();
  }

  get count(): number {
    return this.#runs.length;
  }

  /** Takes in a run, which aborting `stop` ends. Throws `too_many_concurrent_requests`. */
  admit(stop: AbortController): OpenRun {
    const { most, runMs } = this.#options;
    if (this.#runs.length >= most) {
      throw new GatewayError(
        "too_many_concurrent_requests",
        "The gateway is at its limit of concurrent runs. Try again shortly.",
        { headers: { "retry-after": "1" } },
      );
    }
    const endsBy = performance.now() + runMs + GRACE_MS;
    const run: OpenRun = { stop, answer: undefined, endsBy, place: this.#runs.length };
    this.#runs.push(run);
    return run;
  }

  /** The run has ended. The last one takes its place. */
  forget({ place }: OpenRun): void {
    const last = this.#runs.pop();
    if (last && last.place !== place) {
      last.place = place;
      this.#runs[place] = last;
    }
    if (this.#runs.length === 0) for (const wake of this.#onIdle.splice(0)) wake();
  }

  /** Resolves when no run is open. */
  idle(): Promise<void> {
    if (this.#runs.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Ends every run with `shutting_down`. */
  cutOff(): void {
    const error = new GatewayError("shutting_down", "The gateway is shutting down.");
    for (const { stop } of this.#runs) stop.abort(error);
  }

  /** Ends what goes on by itself. */
  close(): void {
    clearInterval(this.#ticker);
  }

  /** One timer for all runs: keepalives, and the end of runs that take too long. */
  #tick(): void {
    const { as } = this.#options.keepalive;
    const now = performance.now();
    for (const { stop, answer, endsBy } of this.#runs) {
      if (now > endsBy) stop.abort(overdue());
      else if (as !== "off") answer?.keepalive(as);
    }
  }
}

const overdue = () =>
  new GatewayError("conversation_deadline", "The run took longer than the gateway allows.");
