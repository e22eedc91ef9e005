/** One thing wrong with the settings. */
export interface ConfigFault {
  /** The file as it was named, or `environment`. */
  file: string;
  /** The setting (`upstreams[0].base_url`), the variable, or the place in the text (`line 3, column 5`). */
  path: string;
  /** Finishes the sentence "expected …". Never holds a value from the file, which may be a key. */
  expected: string;
}

/** The settings cannot be used. Lists every fault that was found, not only the first. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(formatFaults(faults));
    this.faults = faults;
  }
}

/** One line per fault: `FILE: PATH: expected WHAT`. */
export function formatFaults(faults: readonly ConfigFault[]): string {
  return faults.map(({ file, path, expected }) => `${file}: ${path}: expected ${expected}`).join("\n");
}

/** Says which names there are, and which of them was probably meant. */
export function suggest(what: string, wrong: string, names: readonly string[]): string {
  const near = names
    .map((name) => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near) return `${what}; did you mean ${near.name}?`;
  return `${what} (${names.join(", ")})`;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const swap = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
