/** The Chat Completions wire as this gateway reads it: every member may be missing or of another type. */

export interface WireFunction {
  name?: unknown;
  arguments?: unknown;
}

/** One entry of `tool_calls`, whole (in a message) or in part (in a delta). Unknown members are kept and echoed. */
export interface WireToolCall {
  index?: unknown;
  id?: unknown;
  type?: unknown;
  function?: WireFunction | null;
  custom?: { name?: unknown; input?: unknown } | null;
  [member: string]: unknown;
}

export interface Delta {
  role?: unknown;
  content?: unknown;
  tool_calls?: unknown;
  function_call?: unknown;
  [member: string]: unknown;
}

export interface Choice {
  index?: unknown;
  delta?: Delta | null;
  message?: Delta | null;
  finish_reason?: unknown;
  [member: string]: unknown;
}

export type Usage = Record<string, unknown>;

/** A `chat.completion.chunk`, or a whole `chat.completion`, whose choices then carry `message`. */
export interface ChatChunk {
  id?: unknown;
  object?: unknown;
  created?: unknown;
  model?: unknown;
  choices?: unknown;
  usage?: unknown;
  error?: unknown;
  [member: string]: unknown;
}

export interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: WireToolCall[];
  tool_call_id?: string;
  [member: string]: unknown;
}

export interface ToolSpec {
  type: string;
  function?: { name: string; description?: string; parameters?: unknown; [member: string]: unknown };
  [member: string]: unknown;
}

/** A request body of `POST /v1/chat/completions`, checked as far as these types say; the rest goes upstream as it came. */
export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  stream?: boolean | null;
  n?: number | null;
  tools?: ToolSpec[] | null;
  tool_choice?: unknown;
  parallel_tool_calls?: boolean | null;
  stream_options?: { include_usage?: boolean; [member: string]: unknown } | null;
  user?: string | null;
  metadata?: Record<string, string> | null;
  [member: string]: unknown;
}

/** The values of `finish_reason` that SDKs accept. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";
