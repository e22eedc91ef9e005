import timers from "node:timers/promises"; // the default import: node:test can mock this one

/** When to try again. `T` is what one try brings, good or bad: failures are values here, what a task throws is never retried. */
export interface RetryPolicy<T> {
  /** Further tries after the first. */
  retries: number;
  /** The first wait is up to this, each next one up to twice as much, never above 5 s. */
  baseMs: number;
  /** `undefined`: this is the result. Otherwise try again, not before `afterMs` if the other side named a time. */
  again(result: T): { afterMs?: number | undefined } | undefined;
  /** Asked last, when everything else is for another try: `false` if there must be none now. */
  permit?: (() => boolean) | undefined;
  /** Before the wait for try number `attempt` (2 is the first further one). */
  onRetry?: ((attempt: number, delayMs: number, result: T) => void) | undefined;
  /** Time left for the whole; a wait that does not fit into it is not begun. */
  remainingMs?: (() => number) | undefined;
  /** From 0 to below 1. */
  random?: (() => number) | undefined;
}

const MAX_BACKOFF_MS = 5000;
const MAX_AFTER_MS = 60_000;

/**
 * Runs `task` until its result is final or the tries are used up, and returns the last result.
 *
 * 1. Waits are exponential with full jitter, so that many that failed together do not come back together.
 * 2. A time named by the other side is kept, up to 60 s.
 * 3. Aborting `signal` ends a wait at once: rejects with `AbortError`. The task watches the signal itself.
 */
export async function retrying<T>(
  policy: RetryPolicy<T>,
  signal: AbortSignal,
  task: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const result = await task(attempt);
    const again = attempt <= policy.retries && !signal.aborted ? policy.again(result) : undefined;
    if (!again) return result;
    const delayMs = waitMs(policy, attempt, again.afterMs);
    if (policy.remainingMs && delayMs >= policy.remainingMs()) return result;
    if (policy.permit?.() === false) return result;
    policy.onRetry?.(attempt + 1, delayMs, result);
    await timers.setTimeout(delayMs, undefined, { signal });
  }
}

function waitMs<T>(policy: RetryPolicy<T>, attempt: number, afterMs = 0): number {
  const ceiling = Math.min(MAX_BACKOFF_MS, policy.baseMs * 2 ** (attempt - 1));
  const jittered = Math.round((policy.random ?? Math.random)() * ceiling);
  return Math.max(jittered, Math.min(afterMs, MAX_AFTER_MS));
}
