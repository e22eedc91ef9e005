import { Counter, Gauge, type Registry } from "prom-client";

/** How much the process has to do, by step of the ladder. */
const STEPS = ["normal", "tight", "shedding", "cutting"] as const;

/** Series of what is refused, and why. */
export function loadMetrics(register: Registry) {
  const registers = [register];
  const refused = new Counter({
    name: "toolweir_requests_refused_total",
    help: "Requests that were not admitted: rate (of a key), concurrency (too many runs at once) or load (the process has too much to do).",
    labelNames: ["by"],
    registers,
  });
  for (const by of ["rate", "concurrency", "load"]) refused.inc({ by }, 0);
  const load = new Gauge({
    name: "toolweir_load",
    help: "0 normal, 1 memory is tight, 2 no new work is taken, 3 runs are cut off.",
    aggregator: "max",
    registers,
  });
  const cut = new Counter({
    name: "toolweir_runs_cut_total",
    help: "Runs that were ended because the process ran out of memory.",
    registers,
  });
  const waiting = new Gauge({
    name: "toolweir_runs_waiting",
    help: "Requests that wait until fewer runs are open.",
    registers,
  });
  return {
    refused: (by: "rate" | "concurrency" | "load") => refused.inc({ by }),
    load: (step: (typeof STEPS)[number]) => load.set(STEPS.indexOf(step)),
    cut: () => cut.inc(),
    waiting: (count: number) => waiting.set(count),
  };
}
