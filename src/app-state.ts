import type { Logger } from "pino";
import { auditedStores } from "./app-audit.ts";
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
  const opened = await openStores(config.store, {
    minAcks: config.ledger.min_acks,
    process: newId("proc_"),
    onProblem: (message) => log.warn({ stage: "store", status: "problem" }, message),
  });
  const stores = auditedStores(opened, log);
  const metrics = createMetrics(
    (name) => name === READ_RESULT || registry.snapshot().get(name) !== undefined,
    () => stores.ledger.countPending(),
  );
  counted.metrics = metrics;
  const registry = new ToolRegistry(stores.tools, {
    allowUrl,
    onProblem: (problem) => log.warn({ stage: "registry", status: "refused", ...problem }),
  });
  await followTools(registry, stores.tools, log);
  return { stores, log, metrics, registry };
}

/** Reads the tools, and again whenever another process has changed them. A store that is not there yet is asked again until it is. */
async function followTools(registry: ToolRegistry, { watch }: Stores["tools"], log: Logger): Promise<void> {
  if (!watch) return registry.refresh();
  const refresh = () =>
    registry.refresh().catch((err: unknown) => log.warn({ stage: "registry", status: "failed", err }));
  await refresh();
  watch(() => void refresh());
}
