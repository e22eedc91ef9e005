import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

/** What the process can bear: `tight` frees what it can, `shedding` takes no new work, `cutting` gives up work that goes on. */
export type Load = "normal" | "tight" | "shedding" | "cutting";

/** One look at the process. */
export interface LoadSample {
  /** Share of the memory that there is, from 0. */
  memory: number;
  /** How late the event loop was lately, in milliseconds: 99 of 100 times it was not later. */
  loopDelayMs: number;
}

export interface LoadWatchOptions {
  /** Memory of the process; by default the container's or the machine's. */
  memoryBytes: number | undefined;
  /** Event-loop delay above which no new work is taken. */
  loopDelayMs: number;
  /** Told after every look. */
  onLook(load: Load): void;
  /** By default the process itself is looked at. */
  sample?: () => LoadSample;
}

const LOOK_MS = 250;
/** Shares of the memory from which on the process is `tight`, `shedding` and `cutting`; cutting goes on until there is `CUT_UNTIL` left. */
const TIGHT = 0.75;
const SHED = 0.85;
const CUT = 0.95;
const CUT_UNTIL = 0.9;
/** A single pause, of a collection or of the machine, is over before it is seen: only delay that goes on is load. */
const LATE_LOOKS = 2;

/** Looks four times a second whether the process can bear more work. */
export class LoadWatch {
  readonly #options: LoadWatchOptions;
  readonly #sample: () => LoadSample;
  readonly #close: () => void;
  #load: Load = "normal";
  #late = 0;

  constructor(options: LoadWatchOptions) {
    this.#options = options;
    const process = options.sample ? undefined : watchProcess(options.memoryBytes);
    this.#sample = options.sample ?? process?.sample ?? (() => ({ memory: 0, loopDelayMs: 0 }));
    const timer = setInterval(() => this.look(), LOOK_MS).unref();
    this.#close = () => {
      clearInterval(timer);
      process?.close();
    };
  }

  get load(): Load {
    return this.#load;
  }

  /** Looks now. */
  look(): void {
    const { memory, loopDelayMs } = this.#sample();
    this.#late = loopDelayMs > this.#options.loopDelayMs ? this.#late + 1 : 0;
    this.#load = loadOf(memory, this.#late >= LATE_LOOKS, this.#load);
    this.#options.onLook(this.#load);
  }

  close(): void {
    this.#close();
  }
}

function loadOf(memory: number, isLate: boolean, before: Load): Load {
  if (memory >= CUT || (before === "cutting" && memory >= CUT_UNTIL)) return "cutting";
  if (memory >= SHED || isLate) return "shedding";
  return memory >= TIGHT ? "tight" : "normal";
}

function watchProcess(given: number | undefined): { sample(): LoadSample; close(): void } {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const memoryBytes = given ?? memoryOfMachine();
  return {
    sample() {
      const loopDelayMs = delay.percentile(99) / 1e6;
      delay.reset();
      const { used_heap_size: heap, heap_size_limit: most } = getHeapStatistics();
      return { memory: Math.max(heap / most, process.memoryUsage.rss() / memoryBytes), loopDelayMs };
    },
    close: () => void delay.disable(),
  };
}

/** What the container may use, or what the machine has free for it. */
function memoryOfMachine(): number {
  const bound = process.constrainedMemory();
  return bound > 0 ? bound : process.availableMemory() + process.memoryUsage.rss();
}
