/**
 * The wait that a `retry-after` header asks for (RFC 9110, 10.2.3: seconds or an HTTP date), in whole milliseconds from `nowMs`
 * (Unix time). A date in the past is 0; no header, or one that is neither, is `undefined`.
 */
export function parseRetryAfter(
  value: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  const text = (typeof value === "string" ? value : value?.[0])?.trim() ?? "";
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Every HTTP date names its day; without that check Date.parse would read almost anything.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil(date - nowMs));
}
