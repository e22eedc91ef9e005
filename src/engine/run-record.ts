import type { Usage } from "../core/protocol/wire.ts";
import type { Change } from "./gates/gate.ts";

/** One call in the record of a run. */
export interface CallRecord {
  call_id: string;
  name: string;
  owner: "gateway" | "client" | "unknown";
  /** The argument text as the model wrote it, its first 4 KiB. */
  raw: string;
  /** How the pieces were put together; `plain` is simple appending. */
  reading: string;
  gates: readonly {
    gate: string;
    pass: boolean;
    problem?: string;
    feedback?: string;
    changes?: readonly Change[];
    /** What had to be put right in the argument text before it could be read. */
    repairs?: readonly string[];
  }[];
  outcome:
    | "ok"
    | "error"
    | "rejected"
    | "timeout"
    | "cancelled"
    | "client"
    | "duplicate"
    | "known"
    | "dry_run";
  attempts: number;
  duration_ms: number;
  error_kind?: string;
}

/** One upstream completion in the record of a run. */
export interface RoundRecord {
  round: number;
  upstream: string;
  finish_reason: string;
  duration_ms: number;
  usage: Usage | null;
  calls: CallRecord[];
}

/** The whole record of a run, as `GET /runs/{id}` answers it. Times are ISO 8601. */
export interface RunRecord {
  run_id: string;
  session_id: string;
  model: string;
  stream: boolean;
  tools_offered: readonly string[];
  started_at: string;
  ended_at: string | null;
  stop_reason: string | null;
  error: { code: string; message: string } | null;
  rounds: RoundRecord[];
}

interface BookEntry {
  owner: string;
  record: RunRecord;
  /** Made with the first watcher: most runs have none. */
  watchers: Set<() => void> | undefined;
}

/** The records of the latest runs, in memory; each is visible to its own caller only. */
export class RunBook {
  readonly #capacity: number;
  readonly #runs = new Map<string, BookEntry>();

  constructor(capacity = 1_000) {
    this.#capacity = capacity;
  }

  add(owner: string, record: RunRecord): void {
    this.#runs.set(record.run_id, { owner, record, watchers: undefined });
    if (this.#runs.size <= this.#capacity) return;
    for (const oldest of this.#runs.keys()) {
      this.#runs.delete(oldest);
      break;
    }
  }

  /** `owner` undefined sees every run. */
  get(runId: string, owner: string | undefined): RunRecord | undefined {
    const entry = this.#runs.get(runId);
    return entry && (owner === undefined || entry.owner === owner) ? entry.record : undefined;
  }

  /** Something was written into the record. */
  changed(runId: string): void {
    for (const watcher of this.#runs.get(runId)?.watchers ?? []) watcher();
  }

  /** Calls back after every change until the returned function is called. */
  watch(runId: string, watcher: () => void): () => void {
    const entry = this.#runs.get(runId);
    if (!entry) return () => {};
    entry.watchers ??= new Set();
    entry.watchers.add(watcher);
    return () => entry.watchers?.delete(watcher);
  }
}
