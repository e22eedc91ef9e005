import type { ToolLevel } from "../../core/tool.ts";

/**
 * Where a call that may change something stands. `awaiting_approval` -> `approved` -> `executing` -> `succeeded`, `failed` or
 * `outcome_unknown`; a call that needs no approval begins with `executing`. `denied`, `expired`, `stale` (the tool has changed) and
 * `cancelled` (whoever asked may not do it any more) were never sent.
 */
export type LedgerState =
  | "awaiting_approval"
  | "approved"
  | "executing"
  | "succeeded"
  | "failed"
  | "outcome_unknown"
  | "denied"
  | "expired"
  | "stale"
  | "cancelled";

/** Why a person has to decide: the tool's level, or arguments that had to be repaired; `none` has not to. */
export type ApprovalReason = "level" | "repaired" | "none";

/** One call that may change something. Times are Unix milliseconds; hashes are SHA-256 in hexadecimal. */
export interface LedgerEntry {
  readonly id: string;
  readonly state: LedgerState;
  readonly approval: ApprovalReason;
  /** Name of the key that asked for the call. */
  readonly caller: string;
  readonly sessionId: string;
  /** The client named the session; else there is nothing to remember of it. */
  readonly isSessionNamed: boolean;
  readonly runId: string;
  readonly callId: string;
  readonly user: string | undefined;
  readonly tool: string;
  readonly level: ToolLevel;
  /** The arguments for the tool as exact JSON text. */
  readonly arguments: string;
  readonly argumentsHash: string;
  /** The arguments that the model asked for, where whoever approved the call has changed them. */
  readonly askedArguments: string | undefined;
  /** The HTTP request with secrets masked, as JSON text; absent where none can be made of the arguments. */
  readonly request: string | undefined;
  readonly definitionHash: string;
  /** Of the rendered request and of all that it depends on. */
  readonly requestHash: string;
  readonly idempotencyKey: string;
  /** How long the tool knows the key; 0: it knows none, so nothing may be sent twice. */
  readonly keyTtlMs: number;
  /** The key that asked may not decide itself. */
  readonly fourEyes: boolean;
  readonly createdAt: number;
  /** End of the time to decide. */
  readonly expiresAt: number;
  readonly updatedAt: number;
  readonly decision: "approved" | "denied" | undefined;
  readonly decidedBy: string | undefined;
  readonly decidedAt: number | undefined;
  /** What whoever decided said. */
  readonly reason: string | undefined;
  /** How often the call was begun to be carried out, and when for the first time. */
  readonly attempt: number;
  readonly firstSentAt: number | undefined;
  /** Who carries it out, and until when nobody else may. */
  readonly leaseOwner: string | undefined;
  readonly leaseUntil: number;
  /** What the model is told of it, once it is known: the content of a tool message. */
  readonly result: string | undefined;
  /** A closed word for what went wrong. */
  readonly error: string | undefined;
  /** An operator found out what came of it. */
  readonly resolvedBy: string | undefined;
  readonly note: string | undefined;
}

/** Members that can change. */
export type LedgerChange = Partial<
  Omit<
    LedgerEntry,
    "id" | "approval" | "caller" | "sessionId" | "runId" | "callId" | "user" | "tool" | "level" | "updatedAt"
  >
>;

export interface LedgerFilter {
  states?: readonly LedgerState[];
  caller?: string;
  runId?: string;
  limit: number;
}

/**
 * The calls that may change something: what a resolved promise reported as written survives a crash of process and machine.
 *
 * 1. An entry that awaits approval past its time counts as `expired`, whoever looks and whoever decides; the clock is the store's own.
 * 2. Entries that have come to an end are removed 30 days later; an unknown outcome stays until somebody resolves it.
 */
export interface LedgerStore {
  /** `false`: as many calls of this caller as `maxPending` await approval already, and nothing was written. */
  add(entry: LedgerEntry, maxPending?: number): Promise<boolean>;
  get(id: string): Promise<LedgerEntry | undefined>;
  /** Newest first. */
  list(filter: LedgerFilter): Promise<LedgerEntry[]>;
  /**
   * Changes the entry if it is in one of the states `from` and, where `leaseOwner` is given, leased by that one. Gives it as it is
   * then; `undefined` means that it was not, and nothing was written.
   */
  change(
    id: string,
    when: { from: readonly LedgerState[]; leaseOwner?: string },
    change: LedgerChange,
  ): Promise<LedgerEntry | undefined>;
  /** Writes down which entries have expired since the last time, and gives them. */
  expire(): Promise<LedgerEntry[]>;
  /**
   * What executors other than `owner` left behind when they ended. Calls that were being carried out get the state
   * `outcome_unknown`, but for those whose tool still knows their key: these are given, as are approved ones that nobody began with.
   */
  recover(owner: string): Promise<{ unknown: LedgerEntry[]; open: LedgerEntry[] }>;
  /** How many calls await approval. */
  countPending(): Promise<number>;
}
