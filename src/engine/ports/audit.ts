/** One thing that somebody did to the gateway or decided. Nothing in it is an argument, a result, a key or a definition. */
export interface AuditEvent {
  /** A closed word, for example `tool.changed`. */
  readonly action: string;
  /** Name of the key, or `admin` or `anonymous`. */
  readonly actor: string;
  /** What it was done to: the name of a tool, the id of an approval, a session or a key. */
  readonly target: string;
  /** The request that did it, where it was one of its own. */
  readonly request_id: string | null;
  /** Further members of that action: versions, hashes, ends of times. */
  readonly details: Readonly<Record<string, string | number | null>>;
}

/** An event as it was written down. */
export interface AuditRecord extends AuditEvent {
  /** Grows with every record. */
  readonly id: string;
  /** Unix milliseconds by the clock of the store. */
  readonly at: number;
}

/** What was done by whom. Records are only ever added: none is changed or removed by the gateway. */
export interface AuditLog {
  append(event: AuditEvent): Promise<void>;
  /** Oldest first: those after the record `after`, or from the time `from` (Unix milliseconds) on, or all. */
  list(options: { after?: string; from?: number; limit: number }): Promise<AuditRecord[]>;
}
