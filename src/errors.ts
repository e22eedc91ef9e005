/** The error types that OpenAI SDKs know. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "not_found_error"
  | "rate_limit_error"
  | "insufficient_quota"
  | "api_error";

/** Every failure that can reach a client: its code, HTTP status and OpenAI type. There is no other such table. */
const CODES = {
  bad_request: [400, "invalid_request_error"],
  invalid_json: [400, "invalid_request_error"],
  json_too_deep: [400, "invalid_request_error"],
  too_many_keys: [400, "invalid_request_error"],
  missing_required_parameter: [400, "invalid_request_error"],
  invalid_type: [400, "invalid_request_error"],
  invalid_value: [400, "invalid_request_error"],
  unsupported_parameter: [400, "invalid_request_error"],
  invalid_idempotency_key: [400, "invalid_request_error"],
  missing_api_key: [401, "authentication_error"],
  invalid_api_key: [401, "authentication_error"],
  insufficient_scope: [403, "permission_error"],
  tool_not_permitted: [403, "permission_error"],
  self_approval_refused: [403, "permission_error"],
  unknown_url: [404, "not_found_error"],
  tool_not_found: [404, "not_found_error"],
  version_not_found: [404, "not_found_error"],
  session_not_found: [404, "not_found_error"],
  run_not_found: [404, "not_found_error"],
  approval_not_found: [404, "not_found_error"],
  case_not_found: [404, "not_found_error"],
  key_not_found: [404, "not_found_error"],
  method_not_supported: [405, "invalid_request_error"],
  request_timeout: [408, "invalid_request_error"],
  tool_exists: [409, "invalid_request_error"],
  key_exists: [409, "invalid_request_error"],
  session_ambiguous: [409, "invalid_request_error"],
  tool_is_file: [409, "invalid_request_error"],
  idempotency_in_progress: [409, "invalid_request_error"],
  run_in_progress: [409, "invalid_request_error"],
  approval_already_decided: [409, "invalid_request_error"],
  approval_stale: [409, "invalid_request_error"],
  approval_pending: [409, "invalid_request_error"],
  not_resolvable: [409, "invalid_request_error"],
  approval_expired: [410, "invalid_request_error"],
  precondition_failed: [412, "invalid_request_error"],
  request_too_large: [413, "invalid_request_error"],
  uri_too_long: [414, "invalid_request_error"],
  unsupported_media_type: [415, "invalid_request_error"],
  expectation_failed: [417, "invalid_request_error"],
  host_not_allowed: [421, "invalid_request_error"],
  invalid_tool_definition: [422, "invalid_request_error"],
  schema_rejected: [422, "invalid_request_error"],
  idempotency_key_reuse: [422, "invalid_request_error"],
  headers_too_large: [431, "invalid_request_error"],
  rate_limit_exceeded: [429, "rate_limit_error"],
  too_many_concurrent_requests: [429, "rate_limit_error"],
  insufficient_quota: [429, "insufficient_quota"],
  internal_error: [500, "api_error"],
  run_failed_after_write: [500, "api_error"],
  upstream_unavailable: [502, "api_error"],
  upstream_error: [502, "api_error"],
  upstream_invalid_response: [502, "api_error"],
  upstream_stream_interrupted: [502, "api_error"],
  response_too_large: [502, "api_error"],
  tool_failed: [502, "api_error"],
  server_is_overloaded: [503, "api_error"],
  shutting_down: [503, "api_error"],
  not_ready: [503, "api_error"],
  store_unavailable: [503, "api_error"],
  upstream_timeout: [504, "api_error"],
  upstream_stream_timeout: [504, "api_error"],
  conversation_deadline: [504, "api_error"],
} as const satisfies Record<string, readonly [number, ErrorType]>;

export type ErrorCode = keyof typeof CODES;

/** One fault of several, for answers that list them all (a refused tool definition, a refused configuration). */
export interface ErrorDetail {
  reason: string;
  path: string;
  message?: string;
}

/** The body of every error answer and of the `error` chunk of a stream. */
export interface ErrorBody {
  error: {
    message: string;
    type: string;
    param: string | null;
    code: string | null;
    details?: readonly ErrorDetail[];
    run_id?: string;
  };
}

export interface GatewayErrorOptions extends ErrorOptions {
  /** The request member at fault, for example `messages[0].role`. */
  param?: string;
  details?: readonly ErrorDetail[];
  /** Headers of the answer, in lower case, for example `retry-after`. */
  headers?: Readonly<Record<string, string>>;
  /** The run that the error is about. */
  runId?: string;
  /** The connection failed, not what came over it: the same request may succeed. */
  transient?: boolean;
  /** The answer broke off inside a tool call, or may have: it may be asked for once more. */
  cutOff?: true;
  /** Status, type and code of an upstream that are kept instead of ours. */
  upstream?: { status: number; type?: string | undefined; code?: string | null | undefined };
}

/**
 * The one error that crosses a module border and may reach a client. `code` is the contract; `message` is for people and
 * never holds a key, a stack, a file path or text that the client must not see.
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly options: GatewayErrorOptions;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.options = options;
  }

  /** The HTTP status of the answer. */
  get status(): number {
    return this.options.upstream?.status ?? CODES[this.code][0];
  }

  /** The OpenAI error envelope. */
  toBody(): ErrorBody {
    const { upstream, param, details, runId } = this.options;
    return {
      error: {
        message: this.message,
        type: upstream?.type ?? CODES[this.code][1],
        param: param ?? null,
        code: upstream?.code === undefined ? this.code : upstream.code,
        ...(details && { details }),
        ...(runId !== undefined && { run_id: runId }),
      },
    };
  }
}

/** Whatever was thrown, as the error that may be shown: an unknown one becomes `internal_error` with a constant text. */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError(
    "internal_error",
    "The gateway failed on this request. The fault has been logged.",
    {
      cause: error,
    },
  );
}

/** Whether the gateway's store did not answer. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "store_unavailable";
}
