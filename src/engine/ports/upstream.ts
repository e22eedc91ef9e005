import type { GatewayError } from "../../errors.ts";

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
  /** `prefilled`: a reply begins inside of a think block. */
  readonly reasoning?: "tagged" | "prefilled" | undefined;
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
