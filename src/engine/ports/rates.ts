/** How a count stands. */
export interface RateCount {
  /** Taken in the window, with what was taken last. */
  taken: number;
  /** Milliseconds to the end of the window. */
  resetMs: number;
}

/**
 * Counts in windows of time, each of which begins with the first that is taken in it. Counts of the same key in all processes that share
 * the store are one count, and exact: of two that take at the same time one sees what the other has taken.
 */
export interface RateCounters {
  /** Takes `points`, none to only look. What was taken before may be given back with a negative number. Never rejects. */
  take(key: string, windowS: number, points: number): Promise<RateCount>;
}
