/** The time that a budget is for, in UTC; `all` is as long as its count is kept. */
export type Period = "day" | "month" | "all";

/** The name of the period that `at`, in Unix milliseconds, is in: `2026-12-01`, `2026-12` or `all`. */
export function nameOf(period: Period, at: number): string {
  if (period === "all") return "all";
  return new Date(at).toISOString().slice(0, period === "day" ? 10 : 7);
}

/** The end of the period that `at` is in, in Unix milliseconds; `undefined` where it has none. */
export function endOf(period: Period, at: number): number | undefined {
  if (period === "all") return undefined;
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return period === "day" ? Date.UTC(year, month, date.getUTCDate() + 1) : Date.UTC(year, month + 1);
}
