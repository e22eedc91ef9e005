import type { ToolDefinition } from "../../core/tool.ts";

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
  readonly kind: "timeout" | "unreachable" | "interrupted" | "invalid_request" | "unavailable" | "cancelled";

  constructor(kind: ToolFailure["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface ToolTransport {
  /** A call of this tool is coming: makes ready for it what can be. */
  warm?(tool: ToolDefinition): void;
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
