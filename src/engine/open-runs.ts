import { GatewayError } from "../errors.ts";
import { FairQueue } from "./fair-queue.ts";

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
  /** Name of the key whose run it is. */
  readonly caller: string;
  /** About the bytes that it holds. */
  size(): number;
  /** In the list of open runs. */
  place: number;
}

export interface OpenRunsOptions {
  /** How many there may be. */
  most: number;
  /** How many there may be of one key; absent for as many. */
  mostPerKey: number | undefined;
  /** How many may wait until there may be more, and for how long in milliseconds. */
  queue: { most: number; ms: number };
  /** Told of every run that is not taken in. */
  onRefused(): void;
  /** How long a run may take. */
  runMs: number;
  keepalive: { every_ms: number; as: "comment" | "chunk" | "off" };
}

/** Somebody who waits for a place. */
interface Waiter {
  go(): void;
}

/** The runs that go on: admitted up to a number, kept alive and ended when their time is over. */
export class OpenRuns {
  readonly #options: OpenRunsOptions;
  readonly #runs: OpenRun[] = [];
  readonly #queue = new FairQueue<Waiter>();
  /** By key, those that are open and those that wait. */
  readonly #ofKey = new Map<string, number>();
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

  /**
   * Takes in a run, which aborting `stop` ends. Where there are as many as there may be it waits for its turn, in which keys alternate. Throws
   * `too_many_concurrent_requests` where too many wait, or its turn does not come in time, or the key has as many as it may.
   */
  admit(stop: AbortController, caller: string): OpenRun | Promise<OpenRun> {
    const { most, mostPerKey, queue } = this.#options;
    const own = this.#ofKey.get(caller) ?? 0;
    if (mostPerKey !== undefined && own >= mostPerKey)
      throw this.#tooMany(`This key has ${own} runs at once`);
    // Who waits counts too, or a key could fill the queue.
    this.#ofKey.set(caller, own + 1);
    if (this.#runs.length < most) return this.#begin(stop, caller);
    if (this.#queue.size >= queue.most) {
      this.#left(caller);
      throw this.#tooMany("The gateway has as many runs at once");
    }
    return this.#wait(stop, caller);
  }

  /** The run has ended. The last one takes its place, and whoever waits for one gets it. */
  forget({ place, caller }: OpenRun): void {
    const last = this.#runs.pop();
    if (last && last.place !== place) {
      last.place = place;
      this.#runs[place] = last;
    }
    this.#left(caller);
    this.#queue.next()?.go();
    if (this.#runs.length === 0) for (const wake of this.#onIdle.splice(0)) wake();
  }

  /** Ends the run that holds most with `server_is_overloaded`. `false` if there is none. */
  cutLargest(): boolean {
    const open = this.#runs.filter(({ stop }) => !stop.signal.aborted);
    const sizes = open.map((run) => run.size());
    const largest = open[sizes.indexOf(Math.max(...sizes))];
    largest?.stop.abort(new GatewayError("server_is_overloaded", "The gateway has run out of memory."));
    return largest !== undefined;
  }

  #begin(stop: AbortController, caller: string): OpenRun {
    const endsBy = performance.now() + this.#options.runMs + GRACE_MS;
    const run: OpenRun = { stop, answer: undefined, endsBy, caller, size: () => 0, place: this.#runs.length };
    this.#runs.push(run);
    return run;
  }

  #wait(stop: AbortController, caller: string): Promise<OpenRun> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        stop.signal.removeEventListener("abort", leave);
      };
      const giveUp = (error: unknown) => {
        end();
        this.#queue.remove(caller, waiter);
        this.#left(caller);
        reject(error);
      };
      const leave = () => giveUp(stop.signal.reason);
      const waiter: Waiter = {
        go: () => {
          end();
          resolve(this.#begin(stop, caller));
        },
      };
      const timer = setTimeout(
        () => giveUp(this.#tooMany("The gateway has as many runs at once")),
        this.#options.queue.ms,
      );
      stop.signal.addEventListener("abort", leave);
      this.#queue.add(caller, waiter);
    });
  }

  /** Those who are refused together should not come back together. */
  #tooMany(what: string): GatewayError {
    this.#options.onRefused();
    return new GatewayError("too_many_concurrent_requests", `${what} as are allowed. Try again shortly.`, {
      headers: { "retry-after": String(1 + Math.floor(Math.random() * 5)) },
    });
  }

  #left(caller: string): void {
    const rest = (this.#ofKey.get(caller) ?? 1) - 1;
    if (rest > 0) this.#ofKey.set(caller, rest);
    else this.#ofKey.delete(caller);
  }

  /** Resolves when no run is open. */
  idle(): Promise<void> {
    if (this.#runs.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Those that wait for a place. */
  get waiting(): number {
    return this.#queue.size;
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
