/** How many names are offered. */
const MAX_NEAREST = 3;
/** Longer names are compared by their beginnings. */
const MAX_LENGTH = 64;
/** Candidates that are compared at all; a tool or an enum with more is not searched further. */
const MAX_CANDIDATES = 1_000;

/**
 * The candidates that a wrong name was probably meant to be, nearest first, at most three: those that a third of its letters
 * or fewer separate from it (case, `-`, `_`, `.` and spaces do not count), and those of which one holds the other. None if
 * nothing is near. Time is bounded whatever the names are.
 */
export function nearest(name: string, candidates: readonly string[]): string[] {
  const wanted = fold(name);
  const farthest = wanted.length < 3 ? 0 : Math.floor(wanted.length / 3);
  return candidates
    .slice(0, MAX_CANDIDATES)
    .map((candidate) => ({ candidate, distance: distanceTo(wanted, fold(candidate), farthest) }))
    .filter(({ distance }) => distance <= farthest)
    .map((near) => ({ ...near, asWritten: editDistance(name.slice(0, MAX_LENGTH), near.candidate) }))
    .sort((a, b) => a.distance - b.distance || a.asWritten - b.asWritten)
    .slice(0, MAX_NEAREST)
    .map(({ candidate }) => candidate);
}

function fold(name: string): string {
  return name
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replace(/[-_.\s]/g, "");
}

function distanceTo(a: string, b: string, farthest: number): number {
  if (a.length >= 3 && b.length >= 3 && (a.includes(b) || b.includes(a))) return a === b ? 0 : 0.5;
  // The lengths alone differ by more than is near.
  if (Math.abs(a.length - b.length) > farthest) return Number.POSITIVE_INFINITY;
  return editDistance(a, b);
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const replaced = at(last, j - 1) + (isSame ? 0 : 1);
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
