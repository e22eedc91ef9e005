import type { StopReason } from "./answer.ts";

/** The bounds of one run; `0` is never unlimited. */
export interface Limits {
  rounds: number;
  tool_calls: number;
  /** How often the same problem with the same tool is explained to the model; twice as often if the problems differ. */
  corrections: number;
  run_ms: number;
  tools_phase_ms: number;
}

/** What a run has used up so far. */
export interface LimitState {
  rounds: number;
  toolCalls: number;
  elapsedMs(): number;
  /** By tool: its refusals without a pass between them, and how often the latest explanation was given in a row. */
  refusals: Map<string, { inARow: number; same: number; explanation: string }>;
  /** How often the most repeated call was made. */
  repeats: number;
}

/** A call made for the third time with the same arguments is a loop. */
const LOOP_AT = 3;

/**
 * Whether the run has used up what it may, so that the next round is the last and without tools. The limit that is named is the
 * one nearest to the cause: a loop before the rounds it used up.
 */
export function runOver(state: LimitState, limits: Limits): StopReason | undefined {
  if (state.repeats >= LOOP_AT) return "loop_guard";
  for (const { same, inARow } of state.refusals.values()) {
    if (same >= limits.corrections || inARow >= 2 * limits.corrections) return "loop_guard";
  }
  if (state.toolCalls >= limits.tool_calls) return "max_tool_calls";
  if (state.rounds >= limits.rounds) return "max_rounds";
  if (state.elapsedMs() >= limits.run_ms) return "timeout";
  return undefined;
}

/** Counts the refusals of a round, told by their explanations; a tool that passed is forgiven. */
export function countRefusals(
  state: LimitState,
  calls: readonly { name: string; refused: string | undefined }[],
): void {
  for (const { name, refused } of calls) {
    const before = state.refusals.get(name);
    if (refused === undefined) state.refusals.delete(name);
    else {
      const same = before?.explanation === refused ? before.same + 1 : 1;
      state.refusals.set(name, { inARow: (before?.inARow ?? 0) + 1, same, explanation: refused });
    }
  }
}
