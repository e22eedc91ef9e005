import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { READ_RESULT } from "./core/tool.ts";
import { newId } from "./engine/new-id.ts";
import type { Stores } from "./engine/ports/stores.ts";
import { ToolRegistry } from "./engine/registry/registry.ts";
import { openStores } from "./stores/open.ts";
import { createLogger } from "./telemetry/logger.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";

export interface AppState {
  stores: Stores;
  log: Logger;
  metrics: Metrics;
  registry: ToolRegistry;
}

/** Opens the stores, with what is said of them, and reads the tools that are in force. Throws a `StoreError` if a store cannot be used. */
export async function openState(
  config: Config,
  allowUrl: (url: URL) => string | undefined,
): Promise<AppState> {
  const counted: { metrics?: Metrics } = {};
  const log = createLogger({
    level: config.logLevel,
    onDropped: () => counted.metrics?.droppedLines.inc(),
  });
  const stores = await openStores(config.store, {
    minAcks: config.ledger.min_acks,
    process: newId("proc_"),
    onProblem: (message) => log.warn({ stage: "store", status: "problem" }, message),
  });
  const metrics = createMetrics(
    (name) => name === READ_RESULT || registry.snapshot().get(name) !== undefined,
    () => stores.ledger.countPending(),
  );
  counted.metrics = metrics;
  const registry: ToolRegistry = await ToolRegistry.open(stores.tools, {
    allowUrl,
    onProblem: (problem) => log.warn({ stage: "registry", status: "refused", ...problem }),
  });
  // What the store could not tell now it tells with the next change.
  const refresh = () =>
    registry.refresh().catch((err: unknown) => log.warn({ stage: "registry", status: "failed", err }));
  stores.tools.watch?.(() => void refresh());
  return { stores, log, metrics, registry };
}
