import type { Config } from "./config.ts";

/** What the chat engine reads of the settings, under its own names. */
export function engineSettings(config: Config) {
  const {
    limits,
    keepalive,
    locale,
    repair,
    cancel_early: cancelEarly,
    hints,
    selection,
    history,
    approvals,
  } = config;
  const { concurrent_runs: concurrentRuns, concurrent_runs_per_key: concurrentRunsPerKey } = limits;
  const queue = { most: limits.queue, ms: limits.queue_ms };
  const { max_tools: maxTools } = selection;
  const { max_bytes: historyBytes } = history;
  const holdMs = approvals.hold_s * 1_000;
  return {
    limits,
    concurrentRuns,
    concurrentRunsPerKey,
    queue,
    maxTools,
    keepalive,
    locale,
    repair,
    cancelEarly,
    hints,
    historyBytes,
    holdMs,
  };
}
