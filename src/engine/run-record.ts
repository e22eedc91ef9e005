import { stringifyJson } from "../core/json/stringify.ts";
import type { JsonValue } from "../core/json/value.ts";
import type { Usage } from "../core/protocol/wire.ts";
import type { SpendRecord } from "./budgets/run-spend.ts";
import type { PolicyRecord } from "./calls/policy.ts";
import type { Change } from "./gates/gate.ts";
import type { LedgerState } from "./ports/ledger.ts";
import type { ToolSnapshot } from "./registry/tool-snapshot.ts";
import type { HopelessNote } from "./reply/hopeless-calls.ts";
import type { SelectedTool } from "./selection/select.ts";

/** One call in the record of a run. */
export interface CallRecord {
  call_id: string;
  name: string;
  owner: "gateway" | "client" | "unknown";
  /** The argument text as the model wrote it, its first 65,536 characters. */
  raw: string;
  /** More text was there. */
  raw_cut?: true;
  /** How the pieces were put together; `plain` is simple appending. */
  reading: string;
  /** Known before the reply had ended: the arguments cannot become valid. */
  hopeless?: HopelessNote;
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
    | "cached"
    | "pending"
    | "dry_run";
  /** Version of the tool. */
  version?: number;
  /** Why the model made it, where the tool asks for that; its first 65,536 characters. */
  thought?: string;
  /** Ids of the calls whose results it refers to. */
  needs?: readonly string[];
  /** The result is that of a request made for another call at the same time. */
  shared?: true;
  /** Keys of the session's state that it wrote, and those whose expression came to nothing. */
  state?: { readonly set: readonly string[]; readonly faults: readonly { key: string; reason: string }[] };
  attempts: number;
  duration_ms: number;
  /** Of the called tool's own failure where its fallback then succeeded. */
  error_kind?: string;
  /** Of a call that may change something: its entry in the ledger, and the state that the run left it in. */
  write?: { id: string; state: LedgerState };
  /** What policies did about it, in order. */
  policy?: readonly PolicyRecord[];
}

/** One upstream completion in the record of a run. */
export interface RoundRecord {
  round: number;
  upstream: string;
  /** How the model's calls came: `native`, or the text protocol they were looked for in. */
  protocol: string;
  finish_reason: string;
  /** What the model thought before its calls, in protocols that ask for it; its first 65,536 characters. */
  thought?: string;
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
  /** How the offered tools were chosen, where there were more than may be offered. */
  selection?: { considered: number; tools: readonly SelectedTool[]; duration_ms: number };
  started_at: string;
  ended_at: string | null;
  stop_reason: string | null;
  error: { code: string; message: string } | null;
  /** Old results that were left out of the conversation, and their bytes. */
  history?: { results: number; bytes: number };
  rounds: RoundRecord[];
  /** What it used up, where a price or a budget is set. */
  budget?: SpendRecord;
}

/** A record with what stands beside it and is not shown. */
export interface BookEntry {
  readonly owner: string;
  readonly record: RunRecord;
  /** The tools when the run began. */
  readonly tools: ToolSnapshot;
  /** Estimated bytes of the record; 0 while the run goes on. */
  bytes: number;
  /** Made with the first watcher: most runs have none. */
  watchers: Set<() => void> | undefined;
}

/** How much a book keeps. */
export interface BookLimits {
  /** 1,000 unless said otherwise. */
  runs: number;
  /** Bytes of the runs that are over, as far as they can be estimated; 64 MiB unless said otherwise. */
  bytes: number;
}

/** The records of the latest runs, in memory; each is visible to its own caller only. The oldest make room. */
export class RunBook {
  readonly #limits: BookLimits;
  readonly #onEnded: (entry: BookEntry) => void;
  readonly #runs = new Map<string, BookEntry>();
  #bytes = 0;

  /** `onEnded` is told of a run that is over, and again where its record changes after that. */
  constructor(limits: Partial<BookLimits> = {}, onEnded: (entry: BookEntry) => void = () => {}) {
    this.#onEnded = onEnded;
    this.#limits = { runs: 1_000, bytes: 64 * 1024 * 1024, ...limits };
  }

  /** Takes up a run that begins, with the tools that it began with. */
  add(owner: string, record: RunRecord, tools: ToolSnapshot): void {
    this.#runs.set(record.run_id, { owner, record, tools, bytes: 0, watchers: undefined });
    if (this.#runs.size <= this.#limits.runs) return;
    for (const oldest of this.#runs.values()) {
      this.#drop(oldest);
      break;
    }
  }

  /** `owner` undefined sees every run. */
  get(runId: string, owner: string | undefined): BookEntry | undefined {
    const entry = this.#runs.get(runId);
    return entry && (owner === undefined || entry.owner === owner) ? entry : undefined;
  }

  /** Something was written into the record. */
  changed(runId: string): void {
    const entry = this.#runs.get(runId);
    if (!entry) return;
    for (const watcher of entry.watchers ?? []) watcher();
    if (entry.record.ended_at === null) return;
    this.#weigh(entry);
    this.#onEnded(entry);
  }

  #weigh(entry: BookEntry): void {
    this.#bytes -= entry.bytes;
    entry.bytes = bytesOf(entry.record);
    this.#bytes += entry.bytes;
    for (const oldest of this.#runs.values()) {
      if (this.#bytes <= this.#limits.bytes) return;
      // A run that goes on weighs nothing yet.
      if (oldest.bytes > 0) this.#drop(oldest);
    }
  }

  #drop(entry: BookEntry): void {
    this.#bytes -= entry.bytes;
    this.#runs.delete(entry.record.run_id);
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

const BASE_BYTES = 1_024;

/** Argument texts, what was changed in them, and thoughts are all that can be long. A character takes two bytes at the most. */
function bytesOf({ rounds }: RunRecord): number {
  const calls = rounds.flatMap((round) => round.calls);
  const thoughts = rounds.reduce((sum, { thought = "" }) => sum + 2 * thought.length, 0);
  return calls.reduce(
    (sum, call) => sum + BASE_BYTES + 2 * (call.raw.length + changesLength(call)),
    BASE_BYTES + thoughts,
  );
}

function changesLength({ gates, policy = [] }: CallRecord): number {
  const verdicts = [...gates, ...policy.flatMap(({ fallback }) => fallback?.gates ?? [])];
  const changes = verdicts.flatMap((verdict) => ("changes" in verdict && verdict.changes) || []);
  return changes.length === 0 ? 0 : stringifyJson(changes as unknown as JsonValue).length;
}
