import type { JsonObject } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { ReadChunk } from "../../core/protocol/visible.ts";
import type { ChatChunk, Choice, FinishReason, Usage } from "../../core/protocol/wire.ts";

/** Why a run ended, as `toolweir.stop_reason` says it. */
export type StopReason =
  | "completed"
  | "client_tools"
  | "approval_required"
  | "max_rounds"
  | "max_tool_calls"
  | "loop_guard"
  | "budget"
  | "timeout"
  | "length"
  | "content_filter";

/** One tool call in the summary of a run. */
export interface ToolSummary {
  call_id: string;
  name: string;
  ok: boolean;
  cached: boolean;
  attempts: number;
  duration_ms: number;
  error_kind?: string;
  /** The tool that answered in its place. */
  fallback?: string;
  /** It passed every check of a dry run and was not sent. */
  dry_run?: true;
}

/** A call that waits for a person, as the client is told of it. */
export interface PendingApproval {
  id: string;
  name: string;
  arguments: JsonObject;
  /** ISO 8601. */
  expires_at: string;
}

/** The `toolweir` member of the finish chunk and of an unstreamed answer. */
export interface RunSummary {
  run_id: string;
  session_id: string;
  stop_reason: StopReason;
  rounds: number;
  tools: readonly ToolSummary[];
  usage_by_round: readonly (Usage | null)[];
  pending_approvals?: readonly PendingApproval[];
}

/** How a run ends for the client. */
export interface Ending {
  finish: FinishReason;
  summary: RunSummary;
  usage: Usage | undefined;
}

/** A progress event of `x-toolweir-events: 1`. */
export interface Progress {
  type: string;
  [member: string]: unknown;
}

/**
 * What the client gets of a run, streamed or whole.
 *
 * 1. `id`, `created` and `model` never change, whatever the rounds' upstreams say.
 * 2. Calls of gateway tools never get in; calls of client tools are numbered from 0 without a gap.
 * 3. After `finish` or `fail` nothing follows.
 */
export interface Answer {
  /** Text, reasoning or a call has reached the client: from here on nothing may be asked again. */
  readonly shown: boolean;
  /** Shows what a chunk says. Returns the frame of a stream, where the next chunk of the same shape would be written alike. */
  takeChunk(chunk: ReadChunk): string | undefined;
  /** A call of a client tool, or a further piece of one. `text` is what is new. */
  takeCall(choice: number, call: ClientCallPiece): void;
  progress(event: Progress): void;
  /** A text of the gateway itself, behind what the model has said. */
  say(text: string): void;
  /** Calls wait for a person, and the answer goes on when they are decided. */
  announce(pending: readonly PendingApproval[]): void;
  /** Sends what has gathered, when more will be long in coming. */
  flush(): void;
  /** From now on what is said is kept back, because it may be meant for the gateway. */
  hold(): void;
  /** Ends the holding: what was kept back goes out, or is forgotten. */
  release(show: boolean): void;
  /** A new attempt begins: what an earlier one left behind unseen is forgotten. */
  restart(): void;
}

/** One piece of a client's call as it goes out. The first piece of a call carries id, kind and name. */
export interface ClientCallPiece {
  call: Pick<ToolCall, "id" | "name" | "kind" | "extra">;
  text: string;
}

/** The finish choice without what the gateway sets itself, so that the provider's own members ride along. */
export function finishChoice(wire: Choice | undefined, index: number, finish: FinishReason): Choice {
  const { delta: _, message: __, ...rest } = wire ?? {};
  return { ...rest, index, delta: {}, finish_reason: finish };
}

/** What a provider puts on its finish chunk beside the known members. */
export type FinishWire = { chunk: ChatChunk; choice: Choice };
