import { Counter, Gauge, type Registry } from "prom-client";

/** Says which are not asked at the moment, because they keep failing. */
export type LeftAlone = () => readonly string[];

/** The series of tools, or of upstreams, that are left alone. */
export class BreakerMetrics {
  readonly #opened: Counter<string>;
  readonly #label: string;
  #leftAlone: LeftAlone = () => [];

  /** `prefix` begins the names of the series, and `label` names what they are about. */
  constructor(register: Registry, prefix: string, label: string) {
    this.#label = label;
    const said = { labelNames: [label], registers: [register] };
    this.#opened = new Counter({
      ...said,
      name: `${prefix}breaker_opened_total`,
      help: `How often one ${label} was left alone because it kept failing.`,
    });
    const leftAlone = () => this.#leftAlone();
    new Gauge({
      ...said,
      name: `${prefix}breaker_open`,
      help: `1 for each ${label} that is left alone because it keeps failing.`,
      collect() {
        this.reset();
        for (const name of leftAlone()) this.set({ [label]: name }, 1);
      },
    });
  }

  opened(name: string): void {
    this.#opened.inc({ [this.#label]: name });
  }

  /** From now on the series of those left alone asks this for their names. */
  show(leftAlone: LeftAlone): void {
    this.#leftAlone = leftAlone;
  }
}
