import type { GatewayError } from "../errors.ts";
import { isoTime } from "./iso-time.ts";
import type { Run } from "./run-state.ts";

/** What the run has used is booked, and it counts in its session. A store that does not take that costs the count and not the answer. */
export async function settleRun(run: Run): Promise<void> {
  await run.spend?.close();
  const { record, round, usage, limits } = run;
  const { run_id, stop_reason } = record;
  const [started_at, ended_at] = [record.started_at, record.ended_at ?? ""].map((time) => Date.parse(time));
  const ended = {
    run_id,
    started_at: started_at ?? 0,
    ended_at: ended_at ?? 0,
    stop_reason: stop_reason ?? "",
  };
  const tokens = Number(usage?.total_tokens ?? 0);
  const cost_micros = run.spend?.used.cost_micros ?? 0;
  const used = { runs: 1, rounds: round, tool_calls: limits.toolCalls, tokens, cost_micros };
  const { rates } = run.deps;
  if (rates.bounds(run.caller.name)) await rates.usedTokens(run.rated, run.spend?.used.tokens ?? tokens);
  await run.session.ended(ended, used).catch(() => {});
}

/** Writes the end into the record. `now` in Unix milliseconds. */
export function finishRecord(
  run: Run,
  stopReason: string,
  error: GatewayError | undefined,
  now: number,
): void {
  run.record.ended_at = isoTime(now);
  run.record.stop_reason = stopReason;
  if (run.spend) run.record.budget = run.spend.record;
  run.record.error = error ? { code: error.code, message: error.message } : null;
  run.onRecord();
  run.watch?.ended(stopReason);
}
