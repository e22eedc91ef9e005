/** What the engine needs from outside. The interfaces are owned here and implemented in outbound, stores, telemetry and http. */
import type { ErrorClass, PolicyAction, ToolDefinition } from "../core/tool.ts";
import type { GatewayError } from "../errors.ts";

// ── Upstream ─────────────────────────────────────────────────────────────────

/** One POST to the chat completions endpoint of an upstream. */
export interface UpstreamRequest {
  body: Buffer | string;
  stream: boolean;
  /** The client's own `Authorization`, used where the upstream has no key of its own. */
  authorization: string | undefined;
  traceparent: string;
}

export interface ReplyHead {
  status: number;
  /** Media type with parameters, `""` where the upstream sent none. */
  contentType: string;
  /** Whole milliseconds from now, where the upstream sent `retry-after`. */
  retryAfterMs: number | undefined;
}

/** Called in this order: `onHead`, any `onData`, then `onEnd` or `onError` exactly once; never anything after an abort. */
export interface ReplyHandler {
  onHead(head: ReplyHead): void;
  /** The bytes are the handler's to keep. */
  onData(bytes: Buffer): void;
  onEnd(): void;
  /** `upstream_unavailable`, `upstream_timeout`, `upstream_stream_timeout` or `upstream_stream_interrupted`. */
  onError(error: GatewayError): void;
}

export interface UpstreamCall {
  /** Stops reading until `resume`; the idle timeout stands still meanwhile. */
  pause(): void;
  resume(): void;
  abort(): void;
}

export interface UpstreamTarget {
  readonly name: string;
  /** Further attempts on this target before the first byte reached the client. */
  readonly retry: number;
  /** The `protocol` of its model as it is configured. */
  readonly protocol: string;
  /** `prompt`: it knows neither `tools` nor tool messages, so both are written into the messages in that protocol. */
  readonly tools: "native" | "prompt";
  send(request: UpstreamRequest, handler: ReplyHandler): UpstreamCall;
  /** Takes every secret of this upstream out of a text that a client may see. */
  scrub(text: string): string;
}

export interface Upstream {
  /** The targets for a model, in the order to try them: the first that matches, then its fallbacks. Never empty. */
  route(model: string): readonly UpstreamTarget[];
}

/** A request that goes to the default upstream as it is. Headers are names and values by turns, as they stood on the wire. */
export interface PassThroughRequest {
  method: string;
  /** Path and query below the base URL of the upstream; begins with a slash. */
  path: string;
  /** Without `host`, `authorization` and what concerns only the client's own connection. */
  headers: readonly string[];
  /** The client's own `Authorization`, used where the upstream has no key of its own. */
  authorization: string | undefined;
  /** Read as fast as the upstream takes it; an error it throws is handed to `onError` as it is, if it is a `GatewayError`. */
  body: AsyncIterable<Uint8Array> | undefined;
}

/** Like `ReplyHandler`, with the whole head. */
export interface PassThroughHandler extends Omit<ReplyHandler, "onHead"> {
  onHead(status: number, headers: readonly string[]): void;
}

export interface PassThrough {
  forward(request: PassThroughRequest, handler: PassThroughHandler): UpstreamCall;
}

// ── Tools ────────────────────────────────────────────────────────────────────

export interface ToolAttempt {
  runId: string;
  callId: string;
  sessionId: string;
  user: string | undefined;
  /** The same for every attempt of one call. */
  idempotencyKey: string;
  traceparent: string;
}

export interface ToolReply {
  status: number;
  contentType: string;
  /** At most the transport's read limit; `truncated` says that more was there. */
  body: Buffer;
  truncated: boolean;
  retryAfterMs: number | undefined;
}

/** Why a tool request brought no HTTP answer. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
  readonly kind: "timeout" | "unreachable" | "interrupted" | "invalid_request" | "cancelled";

  constructor(kind: ToolFailure["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface ToolTransport {
  /**
   * One attempt. `argumentsJson` is the validated object as exact JSON text, `args` the same as a value.
   * The tool's `timeout_ms` covers connect, head and body. Aborting `signal` closes the socket.
   * Throws `ToolFailure`; any HTTP status is an answer.
   */
  send(
    tool: ToolDefinition,
    args: Readonly<Record<string, unknown>>,
    attempt: ToolAttempt,
    signal: AbortSignal,
  ): Promise<ToolReply>;
}

// ── Stores ───────────────────────────────────────────────────────────────────

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

export interface Stores {
  readonly tools: ToolStore;
  readonly keptTurns: KeptTurnStore;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

// ── Telemetry ────────────────────────────────────────────────────────────────

export type ToolOutcome = "ok" | "error" | "rejected" | "timeout" | "cancelled";

export interface RunInfo {
  runId: string;
  sessionId: string;
  model: string;
  stream: boolean;
  /** The client's `traceparent`, if it sent one. */
  traceparent: string | undefined;
  /** `performance.now()` when the request came in; the start of the run unless given. */
  receivedAt?: number;
}

export interface RunEnd {
  stopReason: string;
  rounds: number;
  /** Set when the run failed. */
  error?: GatewayError;
}

export interface ToolEnd {
  outcome: ToolOutcome;
  attempts: number;
  durationMs: number;
  errorKind?: string | undefined;
  /** Hash of the arguments that were sent, in place of the arguments. */
  argumentsSha256?: string | undefined;
  resultBytes?: number | undefined;
}

export interface GateNote {
  tool: string;
  gate: string;
  pass: boolean;
  /** Closed word for what was wrong, for example `missing`; absent when passed. */
  problem?: string;
}

export interface PolicyNote {
  /** The tool whose policy it was. */
  tool: string;
  class: ErrorClass;
  action: PolicyAction;
  /** Deprecated parameters of the schema that the call used. */
  parameters?: readonly string[];
}

export interface RoundScope {
  /** W3C `traceparent` to send with the request of this round. */
  readonly traceparent: string;
  end(outcome: {
    finish: string;
    upstream: string;
    protocol: string;
    error?: GatewayError;
    usage?: unknown;
  }): void;
}

export interface ToolScope {
  readonly traceparent: string;
  end(end: ToolEnd): void;
}

/** Everything that is counted, timed, logged and traced about one run. */
export interface RunScope {
  readonly traceId: string;
  startRound(round: number): RoundScope;
  startTool(tool: string, callId: string, round: number): ToolScope;
  verdict(note: GateNote, callId: string): void;
  coerced(tool: string, count: number): void;
  /** The arguments of a call were not JSON; `kinds` are closed words for what was put right in them. */
  repaired(tool: string, kinds: readonly string[]): void;
  /** A tool's policy did something else than tell the model of a failure. */
  policy(note: PolicyNote, callId: string): void;
  /** A call that was refused with an explanation for the model. */
  refused(tool: string): void;
  /** A chain of corrections came to its end. */
  correctionEnded(outcome: "corrected" | "gave_up" | "abandoned"): void;
  /** The client gets its first text now. */
  firstToken(): void;
  upstreamFailed(upstream: string, error: GatewayError): void;
  end(end: RunEnd): void;
}

export interface Telemetry {
  startRun(info: RunInfo): RunScope;
}

// ── Client ───────────────────────────────────────────────────────────────────

/** Why a run was given up: nobody is there to read it. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";

  constructor() {
    super("the client has left");
  }
}

/** The client's end of a stream: whole SSE frames go in. */
export interface ClientSink {
  /** Status and headers are sent: an error can no longer be an HTTP status. */
  readonly started: boolean;
  /** Sends status and headers now, if they are not sent yet. */
  start(): void;
  /** `false`: the client is slower than the upstream; wait for `onDrain`. */
  write(frames: Buffer | string): boolean;
  /** Calls back once, when the client has caught up or is gone. */
  onDrain(callback: () => void): void;
}
