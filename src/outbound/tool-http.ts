import { Agent, type Dispatcher } from "undici";
import type { JsonObject } from "../core/json/value.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { isReservedHeader } from "../core/tool-endpoint.ts";
import { type RenderedRequest, renderToolRequest, TemplateError } from "../core/tool-template.ts";
import { type ToolAttempt, ToolFailure, type ToolReply, type ToolTransport } from "../engine/ports/tools.ts";
import { type AddressGuard, ConnectError } from "./address-guard.ts";
import { decodeBody } from "./content-encoding.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { scrub } from "./scrub.ts";
import { WarmSockets } from "./warm-sockets.ts";

export interface ToolTransportOptions {
  policy: AddressGuard;
  /** The value of `${secret:NAME}`. */
  secrets: (name: string) => string | undefined;
  /** What is read of an answer, 1 MiB unless told. */
  maxReadBytes?: number;
}

const MAX_READ_BYTES = 1024 * 1024;
const MAX_IDENTITY_CHARACTERS = 1024;

/**
 * Tool requests over HTTP/1.1.
 *
 * 1. `timeout_ms` covers connect, head and body; at its end, and when the signal aborts, the socket is closed at once.
 * 2. Redirects are answers like any other and never followed.
 * 3. `warm` connects in advance where no connection is open. `write` and `admin` tools get a connection of their own: none that the server may be closing just now.
 * 4. `unreachable` means that nothing was sent; after `interrupted` and `timeout` the tool may have done its work.
 * 5. At most `maxReadBytes` of a body are kept, also of what a compressed one unpacks to.
 * 6. No text of a failure holds a URL, a header or an argument. An answer that repeats a secret that was sent is handed on without it.
 */
export function createToolTransport(
  options: ToolTransportOptions,
): ToolTransport & { close(): Promise<void> } {
  const { policy, secrets, maxReadBytes = MAX_READ_BYTES } = options;
  const connect = policy.connector();
  const warm = new WarmSockets(connect);
  const common = {
    connections: null,
    allowH2: false,
    headersTimeout: 0, // one timer of ours covers the whole exchange
    bodyTimeout: 0,
  };
  const reused = new Agent({ ...common, connect: warm.connector, pipelining: 1 });
  const fresh = new Agent({ ...common, connect, pipelining: 0 });
  return {
    async send(tool, args, attempt, signal) {
      // The engine hands over validated JSON; its port leaves the type open.
      const sent = new Set<string>();
      const request = render(tool, args as JsonObject, (name) => {
        const value = secrets(name);
        if (value !== undefined) sent.add(value);
        return value;
      });
      const url = new URL(request.url);
      const refusal = policy.allowUrl(url);
      if (refusal) throw new ToolFailure("invalid_request", refusal);
      const agent = tool.level === "read" ? reused : fresh;
      const dispatch = { ...toDispatch(request, url), headers: headersOf(tool, request, attempt) };
      const reply = await exchange({ agent, dispatch, timeoutMs: tool.timeout_ms, maxReadBytes }, signal);
      return { ...reply, body: scrub(reply.body, sent) };
    },
    warm(tool) {
      const url = tool.level === "read" ? originOf(tool) : undefined;
      if (url && !policy.allowUrl(url) && !reused.stats[url.origin]?.connected) warm.warm(url);
    },
    async close() {
      warm.close();
      await Promise.all([reused.destroy(), fresh.destroy()]);
    },
  };
}

/** A tool's host is fixed: placeholders stand behind it. */
function originOf({ http }: ToolDefinition): URL | undefined {
  const origin = /^https?:\/\/[^/?#{}]+/iu.exec(http.url)?.[0];
  return (origin && URL.parse(origin)) || undefined;
}

function render(
  tool: ToolDefinition,
  args: JsonObject,
  secrets: (name: string) => string | undefined,
): RenderedRequest {
  try {
    return renderToolRequest(tool, args, secrets);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new ToolFailure("invalid_request", error.message, { cause: error });
  }
}

function toDispatch(request: RenderedRequest, url: URL): Dispatcher.DispatchOptions {
  const { method, body } = request;
  return { origin: url.origin, path: url.pathname + url.search, method, body: body ?? null };
}

function headersOf(
  { idempotency }: ToolDefinition,
  request: RenderedRequest,
  attempt: ToolAttempt,
): Record<string, string> {
  const keyHeader = idempotency?.header?.toLowerCase() ?? "idempotency-key";
  const own = Object.entries(request.headers).filter(([name]) => !isReservedHeader(name));
  return {
    accept: "application/json, */*;q=0.5",
    "user-agent": "toolweir",
    "accept-encoding": "identity",
    ...Object.fromEntries(own),
    ...identity("x-toolweir-run-id", attempt.runId),
    ...identity("x-toolweir-call-id", attempt.callId),
    ...identity("x-toolweir-session", attempt.sessionId),
    ...identity("x-toolweir-user", attempt.user),
    ...identity("idempotency-key", attempt.idempotencyKey),
    ...identity(keyHeader, attempt.idempotencyKey),
    ...identity("traceparent", attempt.traceparent),
    "x-toolweir-hops": "1",
  };
}

/** Ids and user names come from clients and models: what a header cannot hold is percent-encoded, what is too long left out. */
function identity(name: string, value: string | undefined): Record<string, string> {
  const text = value
    ?.toWellFormed()
    .replace(/[^\x20-\x7e]+/gu, encodeURIComponent)
    .trim();
  return text && text.length <= MAX_IDENTITY_CHARACTERS ? { [name]: text } : {};
}

interface Exchange {
  agent: Agent;
  dispatch: Dispatcher.DispatchOptions;
  timeoutMs: number;
  maxReadBytes: number;
}

async function exchange(task: Exchange, signal: AbortSignal): Promise<ToolReply> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort(new ToolFailure("timeout", `timed out after ${task.timeoutMs} ms`));
  }, task.timeoutMs);
  const cancel = () => stop.abort(new ToolFailure("cancelled", "cancelled", { cause: signal.reason }));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    // `request` and not `dispatch`: only its signal also ends an attempt to connect.
    const reply = await task.agent.request({
      ...task.dispatch,
      signal: stop.signal,
    } as Dispatcher.RequestOptions);
    return await readReply(reply, task.maxReadBytes);
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : asToolFailure(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

async function readReply(reply: Dispatcher.ResponseData, maxBytes: number): Promise<ToolReply> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early destroys the body, which closes the connection.
  for await (const chunk of reply.body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  const raw = { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes };
  const decoded = await decodeBody(raw, reply.headers["content-encoding"], maxBytes);
  return {
    status: reply.statusCode,
    contentType: String(reply.headers["content-type"] ?? ""),
    ...decoded,
    retryAfterMs: parseRetryAfter(reply.headers["retry-after"], Date.now()),
  };
}

function asToolFailure(error: unknown): ToolFailure {
  if (error instanceof ConnectError) {
    return new ToolFailure(error.refused ? "invalid_request" : "unreachable", error.message, {
      cause: error,
    });
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "UND_ERR_INVALID_ARG") {
    return new ToolFailure("invalid_request", "The request of this tool cannot be sent as it is defined.", {
      cause: error,
    });
  }
  return new ToolFailure("interrupted", code || "the connection broke", { cause: error });
}
