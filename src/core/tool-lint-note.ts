/** Advice about a definition that is valid. */
export interface LintNote {
  /** One of a closed set, for example `description_missing`. */
  readonly reason: string;
  /** The member meant, for example `parameters.properties.city`. */
  readonly path: string;
  /** Why it matters to a model, or to whoever runs the tool. */
  readonly message: string;
  /** What to write instead: a text or a name that can be taken over, or a start of one. */
  readonly suggestion: string;
}

/** One piece of advice. */
export function note(reason: string, path: string, message: string, suggestion: string): LintNote {
  return { reason, path, message, suggestion };
}
