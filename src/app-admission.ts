import type { Config } from "./config.ts";
import type { ChatEngine } from "./engine/chat.ts";
import type { Rates } from "./engine/rates/rates.ts";
import type { ToolRegistry } from "./engine/registry/registry.ts";
import { GatewayError } from "./errors.ts";
import type { AdmissionOptions } from "./http/admission.ts";
import { LoadWatch } from "./load-watch.ts";
import type { Metrics } from "./telemetry/metrics.ts";

interface AdmissionParts {
  config: Config;
  engine: ChatEngine;
  cache: { halve(): void };
  rates: Rates;
  metrics: Metrics;
  registry: Pick<ToolRegistry, "isRead">;
}

/** What is done about load: memory is freed, then no more work is taken, then the largest run is given up. */
export function openAdmission(parts: AdmissionParts): AdmissionOptions & { close(): void } {
  const { config, engine, cache, rates, metrics, registry } = parts;
  const { admission } = metrics;
  const watch = new LoadWatch({
    memoryBytes: config.overload.memory_bytes,
    loopDelayMs: config.overload.loop_delay_ms,
    onLook(load) {
      admission.load(load);
      admission.waiting(engine.waitingRuns);
      if (load !== "normal") cache.halve();
      if (load === "cutting" && engine.cutLargest()) admission.cut();
    },
  });
  return {
    rates,
    load: () => watch.load,
    obstacle: () => (registry.isRead ? undefined : notRead()),
    onRefused: (by) => admission.refused(by),
    close: () => watch.close(),
  };
}

/** Answers without the tools would be wrong ones. */
const notRead = () =>
  new GatewayError("store_unavailable", "The gateway could not read its tools yet. Try again later.", {
    headers: { "retry-after": "2" },
  });
