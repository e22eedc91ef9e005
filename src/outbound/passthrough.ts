import { Agent, type Dispatcher } from "undici";
import type {
  PassThrough,
  PassThroughHandler,
  PassThroughRequest,
  UpstreamCall,
} from "../engine/ports/upstream.ts";
import { type ErrorCode, GatewayError } from "../errors.ts";

/** The members of an upstream's settings that matter here. */
export interface PassThroughTarget {
  /** Ends without a slash. */
  base_url: string;
  api_key: string | undefined;
  timeouts_ms: { connect: number; first_byte: number; idle: number };
}

const TIMEOUTS = new Map<string | undefined, readonly [ErrorCode, string]>([
  ["UND_ERR_HEADERS_TIMEOUT", ["upstream_timeout", "The upstream did not answer in time."]],
  ["UND_ERR_BODY_TIMEOUT", ["upstream_stream_timeout", "The upstream stopped in the midst of its answer."]],
]);

/**
 * Forwards requests to one upstream over HTTP/1.1.
 *
 * 1. Status, headers and body of the answer are handed on as they came: nothing is decoded, no redirect is followed.
 * 2. Nothing is sent twice.
 * 3. The upstream's key, where it has one, takes the place of the client's.
 * 4. `abort` closes the connection to the upstream.
 */
export function createPassThrough(target: PassThroughTarget): PassThrough & { close(): Promise<void> } {
  const { origin, pathname } = new URL(target.base_url);
  const base = pathname.replace(/\/$/, "");
  const { connect, first_byte, idle } = target.timeouts_ms;
  const agent = new Agent({
    allowH2: false, // it would change the spelling and order of headers
    connect: { timeout: connect },
    headersTimeout: first_byte,
    bodyTimeout: idle,
  });
  return {
    forward(request, handler) {
      const authorization = target.api_key === undefined ? request.authorization : `Bearer ${target.api_key}`;
      const exchange = new Exchange(handler);
      agent.dispatch(
        {
          origin,
          path: base + request.path,
          method: request.method,
          headers: [
            ...request.headers,
            ...(authorization === undefined ? [] : ["authorization", authorization]),
          ],
          body: bodyOf(request),
        },
        exchange,
      );
      return exchange;
    },
    close: () => agent.destroy(),
  };
}

/** undici takes any async iterable, but its types name only the Node stream. */
const bodyOf = ({ body }: PassThroughRequest) =>
  (body ?? null) as NonNullable<Dispatcher.DispatchOptions["body"]> | null;

/** One request in undici's terms on one side and ours on the other. */
class Exchange implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #handler: PassThroughHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;
  #answering = false;

  constructor(handler: PassThroughHandler) {
    this.#handler = handler;
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new Error("The client is gone."));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The client left while the connection was still being made.
    if (this.#aborted) this.abort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return;
    this.#answering = true;
    // Over HTTP/1.1 this is the flat list of the wire.
    const raw = controller.rawHeaders as readonly (Buffer | string)[];
    this.#handler.onHead(
      status,
      raw.map((text) => text.toString("latin1")),
    );
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#handler.onData(bytes);
  }

  onResponseEnd(): void {
    this.#handler.onEnd();
  }

  onResponseError(_controller: unknown, error: Error & { code?: string }): void {
    if (!this.#aborted) this.#handler.onError(this.#explain(error));
  }

  #explain(error: Error & { code?: string }): GatewayError {
    if (error instanceof GatewayError) return error;
    if (error.code === "UND_ERR_INVALID_ARG" || error.code === "UND_ERR_NOT_SUPPORTED") {
      return new GatewayError("bad_request", "This request cannot be passed on.", { cause: error });
    }
    const timeout = TIMEOUTS.get(error.code);
    if (timeout) return new GatewayError(timeout[0], timeout[1], { cause: error });
    return this.#answering
      ? new GatewayError("upstream_stream_interrupted", "The upstream cut its answer off.", { cause: error })
      : new GatewayError("upstream_unavailable", "The upstream cannot be reached.", { cause: error });
  }
}
