let second = Number.NaN;
let upToSecond = "";

/**
 * Unix milliseconds, a whole number, as `Date.prototype.toISOString` spells them. Many times of a busy gateway lie in the same
 * second, whose part of the text is kept: formatting a date anew takes ten times as long.
 */
export function isoTime(ms: number): string {
  const of = Math.floor(ms / 1000);
  if (of !== second) {
    second = of;
    upToSecond = new Date(of * 1000).toISOString().slice(0, -4);
  }
  return `${upToSecond}${String(ms - of * 1000).padStart(3, "0")}Z`;
}
