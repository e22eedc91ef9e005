import type { ToolDefinition } from "../../core/tool.ts";
import type { AuditLog } from "./audit.ts";
import type { LedgerStore } from "./ledger.ts";
import type { RateCounters } from "./rates.ts";
import type { ResultCache } from "./result-cache.ts";

export interface StoredTool {
  definition: ToolDefinition;
  /** Unix milliseconds. */
  updatedAt: number;
}

export interface ToolStore {
  list(): Promise<StoredTool[]>;
  get(name: string): Promise<StoredTool | undefined>;
  /**
   * Stores the definition under the next version of its name. With `expectedVersion` (0: must not exist) only if that one is
   * current; `undefined` means somebody else was first and nothing was written.
   */
  put(definition: Omit<ToolDefinition, "version">, expectedVersion?: number): Promise<StoredTool | undefined>;
  /** `false` if there is none, or `expectedVersion` is not current. */
  delete(name: string, expectedVersion?: number): Promise<boolean>;
  /** Every version ever stored under the name, oldest first. */
  versions(name: string): Promise<StoredTool[]>;
  /** Calls `onChange` within a second of a change by another process, until what it gives is called. Absent where there is no other. */
  watch?(onChange: () => void): () => void;
}

/** The gateway's half of a mixed turn, until the client comes back with its own. */
export interface KeptTurn {
  /** Ids of the client's calls in that turn; each finds the turn. */
  clientCallIds: readonly string[];
  /** The assistant message as the model gave it, all calls in order. */
  assistant: unknown;
  /** `tool_call_id` to tool message, of the gateway's calls. */
  results: Readonly<Record<string, unknown>>;
}

export interface KeptTurnStore {
  /** `owner` separates callers: what one keeps no other finds. */
  keep(owner: string, turn: KeptTurn, ttlMs: number): Promise<void>;
  /** The turn that holds this client call, if it is known and not expired. It stays until it expires. */
  find(owner: string, clientCallId: string): Promise<KeptTurn | undefined>;
}

/** What documents are of; keys are unique within a kind. */
export type DocumentKind = "session" | "result" | "parked_run" | "answer" | "account" | "key" | "run";

/** A JSON value that is kept until it expires. */
export interface StoredDocument {
  value: unknown;
  /** Another one with every write; no number is given twice, also not after a deletion. */
  revision: number;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** Small documents, each on its own: what must change together belongs into one. */
export interface DocumentStore {
  /** `undefined` if there is none or it has expired. */
  get(kind: DocumentKind, key: string): Promise<StoredDocument | undefined>;
  /**
   * Writes the document, which lives for `ttlMs` from now. With `expectedRevision` (0: must not exist) only if that one is current.
   * Gives the new revision; `undefined` means somebody else was first and nothing was written.
   */
  put(
    kind: DocumentKind,
    key: string,
    value: unknown,
    options: { ttlMs: number; expectedRevision?: number },
  ): Promise<number | undefined>;
  /** `false` if there is none, or `expectedRevision` is not current. */
  delete(kind: DocumentKind, key: string, expectedRevision?: number): Promise<boolean>;
}

export interface Stores {
  readonly tools: ToolStore;
  readonly keptTurns: KeptTurnStore;
  readonly documents: DocumentStore;
  readonly ledger: LedgerStore;
  readonly audit: AuditLog;
  readonly rates: RateCounters;
  /** Shared by all processes. Absent where there is only one. */
  readonly cache?: ResultCache;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
