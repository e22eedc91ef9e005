import { stringifyJson } from "../core/json/stringify.ts";
import type { JsonValue } from "../core/json/value.ts";
import type { DocumentStore } from "./ports/stores.ts";
import type { RunRecord } from "./run-record.ts";

/** The record of a run that has ended in another process. */
export interface SharedRun {
  owner: string;
  /** As JSON text, in which integers have all their digits. */
  text: string;
}

const KEPT_MS = 60 * 60 * 1_000;
/** A longer record stays with the process that made it. */
const MAX_LENGTH = 256 * 1024;

/** Records of runs that have ended, for the other processes on the same store, for an hour. */
export class SharedRuns {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /** Never rejects: a record is worth no failure. */
  async keep(owner: string, record: RunRecord): Promise<void> {
    const text = stringifyJson(record as unknown as JsonValue);
    if (text.length > MAX_LENGTH) return;
    const value: SharedRun = { owner, text };
    await this.#documents.put("run", record.run_id, value, { ttlMs: KEPT_MS }).catch(() => {});
  }

  /** `owner` undefined sees every run. */
  async find(runId: string, owner: string | undefined): Promise<SharedRun | undefined> {
    const stored = await this.#documents.get("run", runId);
    const run = stored?.value as SharedRun | undefined;
    return run && (owner === undefined || run.owner === owner) ? run : undefined;
  }
}
