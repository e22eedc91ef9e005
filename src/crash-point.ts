import diagnostics from "node:diagnostics_channel";
import type { CrashPoint } from "./engine/approvals/writes.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * For tests of what is left after a crash: ends the process without a farewell at the place that `TOOLWEIR_CRASH_AT` names, if `NODE_ENV` is
 * `test`. Beside the places of the work itself there is `after_send`: a request with an idempotency key has left.
 */
export function crashPoints(env: Environment): ((point: CrashPoint) => void) | undefined {
  const at = env["NODE_ENV"] === "test" ? env["TOOLWEIR_CRASH_AT"] : undefined;
  if (at === undefined || at === "") return undefined;
  const crash = () => process.kill(process.pid, "SIGKILL");
  if (at === "after_send") {
    diagnostics.subscribe("undici:request:bodySent", (message) => {
      const { request } = message as { request: { headers: readonly string[] } };
      if (request.headers.includes("idempotency-key")) setTimeout(crash, 20);
    });
  }
  return (point) => {
    if (point === at) crash();
  };
}
