import type { StopReason } from "./answer/answer.ts";
import type { Corrections } from "./calls/corrections.ts";
import type { LoopWatch } from "./calls/loop-watch.ts";

/** The bounds of one run; `0` is never unlimited. */
export interface Limits {
  rounds: number;
  tool_calls: number;
  /** How often the same problem with the same tool is explained to the model; twice as often if the problems differ. */
  corrections: number;
  run_ms: number;
  tools_phase_ms: number;
  /** Calls of one round that run at the same time. */
  parallel_calls: number;
}

/** What a run has used up so far. */
export interface LimitState {
  rounds: number;
  toolCalls: number;
  elapsedMs(): number;
  corrections: Pick<Corrections, "isSpent">;
  loops: Pick<LoopWatch, "isLoop">;
  /** The budget of the run, its session or its key is used up. */
  isBudgetSpent(): boolean;
}

/**
 * Whether the run has used up what it may, so that the next round is the last and without tools. The limit that is named is the
 * one nearest to the cause: a loop before the rounds it used up.
 */
export function runOver(state: LimitState, limits: Limits): StopReason | undefined {
  if (state.loops.isLoop || state.corrections.isSpent) return "loop_guard";
  if (state.isBudgetSpent()) return "budget";
  if (state.toolCalls >= limits.tool_calls) return "max_tool_calls";
  if (state.rounds >= limits.rounds) return "max_rounds";
  if (state.elapsedMs() >= limits.run_ms) return "timeout";
  return undefined;
}
