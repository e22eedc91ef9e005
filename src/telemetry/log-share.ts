import type { Logger } from "pino";

const RANGE = 2 ** 32;

/**
 * The logger of a run by its trace id, where only a share (0 to 1) of the runs is logged in full. Of the others there are warnings
 * and errors only. The trace id decides, so that all gateways and all rounds of a trace agree.
 */
export function logShare(logger: Logger, share: number): (traceId: string) => Logger {
  if (share >= 1) return () => logger;
  const quiet = logger.isLevelEnabled("info") ? logger.child({}, { level: "warn" }) : logger;
  return (traceId) => (Number.parseInt(traceId.slice(-8), 16) / RANGE < share ? logger : quiet);
}
