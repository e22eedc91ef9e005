import { nearest } from "./core/schema/nearest.ts";

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

/** Says which name was probably meant, or where none is near, which names there are. */
export function suggest(what: string, wrong: string, names: readonly string[]): string {
  const [near] = nearest(wrong, names);
  return near === undefined ? `${what} (${names.join(", ")})` : `${what}; did you mean ${near}?`;
}
