/** Why a tool schema is refused. */
export type FaultReason =
  | "schema_invalid"
  | "schema_unsatisfiable"
  | "root_not_object"
  | "dialect_not_supported"
  | "keyword_not_allowed"
  | "name_not_allowed"
  | "name_too_long"
  | "ref_not_local"
  | "ref_unresolved"
  | "ref_cycle"
  | "expansion_too_large"
  | "too_large"
  | "too_deep"
  | "too_many_nodes"
  | "too_many_properties"
  | "too_many_branches"
  | "enum_too_large"
  | "pattern_too_long"
  | "pattern_unsupported";

/** One thing that is wrong with a schema. `path` is a JSON pointer into it, `""` for the root. */
export interface SchemaFault {
  readonly path: string;
  readonly reason: FaultReason;
  readonly message: string;
}

/** A schema that no tool may have. `faults` is never empty and holds at most `MAX_FAULTS`. */
export class SchemaRejected extends Error {
  override readonly name = "SchemaRejected";
  readonly faults: readonly SchemaFault[];

  constructor(faults: readonly SchemaFault[]) {
    super(faults.map(({ path, message }) => `${path || "/"}: ${message}`).join("; "));
    this.faults = faults;
  }
}

/** How many faults are listed; nobody reads more at once. */
export const MAX_FAULTS = 50;
/** Characters of a path or message; what is longer was written to be long. */
const MAX_TEXT = 500;

/** Gathers faults, at most `MAX_FAULTS`, and each reason once for a path. */
export class FaultList {
  readonly #faults: SchemaFault[] = [];
  readonly #known = new Set<string>();

  add(path: string, reason: FaultReason, message: string): void {
    const key = `${reason} ${path.slice(0, MAX_TEXT)}`;
    if (this.#known.has(key) || this.#faults.length === MAX_FAULTS) return;
    this.#known.add(key);
    this.#faults.push({ path: path.slice(0, MAX_TEXT), reason, message: message.slice(0, MAX_TEXT) });
  }

  get all(): readonly SchemaFault[] {
    return this.#faults;
  }

  get isEmpty(): boolean {
    return this.#faults.length === 0;
  }

  /** Throws `SchemaRejected` if there is any fault. */
  check(): void {
    if (!this.isEmpty) throw new SchemaRejected(this.#faults);
  }
}
