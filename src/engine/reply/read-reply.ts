import { errorText } from "../../core/protocol/visible.ts";
import { SseDecoder, type SseEvent } from "../../core/sse.ts";
import { GatewayError } from "../../errors.ts";
import { StreamAnswer } from "../answer/answer-stream.ts";
import type {
  ReplyHandler,
  ReplyHead,
  UpstreamCall,
  UpstreamRequest,
  UpstreamTarget,
} from "../ports/upstream.ts";
import { FastPath } from "./fast-path.ts";
import { type Reply, ReplyContent, type ReplyContext } from "./reply-content.ts";
import { type Mode, modeOf, parseObject } from "./reply-mode.ts";
import { readWholeReply, upstreamFailure } from "./whole-reply.ts";

const MAX_EVENT_BYTES = 16 * 1024 * 1024;
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** How long a connection may go on after `[DONE]` before it is given up instead of kept for the next request. */
const AFTER_DONE_MS = 250;

/**
 * Sends one request and reads its reply to the end.
 *
 * 1. What the client may see is handed to the answer in the very call that brought the bytes.
 * 2. `[DONE]` ends the reply; without it the end of the body does, if a finish reason was there. Anything else is an error.
 * 3. A slow client stops the reading; `signal` ends it at once.
 */
export function readReply(
  target: UpstreamTarget,
  request: UpstreamRequest,
  context: ReplyContext,
  signal: AbortSignal,
): Promise<Reply> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const reader = new ReplyReader(target, context, (outcome) => {
      signal.removeEventListener("abort", onAbort);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    });
    const onAbort = () => reader.abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    reader.start((handler) => target.send(request, handler));
  });
}

class ReplyReader implements ReplyHandler {
  readonly #target: UpstreamTarget;
  readonly #content: ReplyContent;
  readonly #stream: StreamAnswer | undefined;
  readonly #settle: (outcome: Reply | Error) => void;
  readonly #decoder = new SseDecoder(MAX_EVENT_BYTES);
  readonly #fast: FastPath;
  #call: UpstreamCall | undefined;
  #head: ReplyHead = { status: 0, contentType: "", retryAfterMs: undefined };
  #mode: Mode = "unknown";
  #body: Buffer[] = [];
  #bodyBytes = 0;
  #settled = false;
  #flushing = false;
  #ended = false;
  /** Held only as long as it is needed: a timer keeps everything alive that the reply has brought. */
  #afterDone: NodeJS.Timeout | undefined;

  constructor(target: UpstreamTarget, context: ReplyContext, settle: (outcome: Reply | Error) => void) {
    this.#target = target;
    this.#content = new ReplyContent(context);
    this.#stream = context.answer instanceof StreamAnswer ? context.answer : undefined;
    this.#fast = new FastPath(target, context, this.#content);
    this.#settle = settle;
  }

  start(send: (handler: ReplyHandler) => UpstreamCall): void {
    this.#call = send(this);
    if (this.#settled) this.#call.abort();
  }

  abort(reason: unknown): void {
    this.#call?.abort();
    this.#finish(reason instanceof Error ? reason : new Error("aborted"));
  }

  onHead(head: ReplyHead): void {
    this.#head = head;
    if (head.status < 200 || head.status > 299) this.#mode = "failure";
    else if (head.contentType.startsWith("text/event-stream")) this.#beginEvents();
    else if (head.contentType !== "") this.#mode = "whole";
  }

  #beginEvents(): void {
    this.#mode = "events";
    this.#stream?.begin();
  }

  onData(bytes: Buffer): void {
    if (this.#settled) return;
    try {
      if (this.#mode === "unknown") this.#mode = modeOf(bytes);
      if (this.#mode === "events") this.#readEvents(bytes);
      else if (this.#mode !== "unknown") this.#collect(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  onEnd(): void {
    this.#ended = true;
    clearTimeout(this.#afterDone);
    if (this.#settled) return;
    try {
      if (this.#mode === "events") this.#endEvents();
      else this.#endWhole();
    } catch (error) {
      this.#fail(error);
    }
  }

  onError(error: GatewayError): void {
    this.#ended = true;
    clearTimeout(this.#afterDone);
    this.#fail(error);
  }

  #readEvents(bytes: Buffer): void {
    let at = 0;
    if (this.#decoder.fresh) {
      at = this.#fast.open(bytes);
      if (at > 0) this.#decoder.skipStart();
    }
    while (at < bytes.length && !this.#settled) {
      if (this.#decoder.idle) at = this.#fast.forward(bytes, at);
      if (at < bytes.length) at = this.#readEvent(bytes, at);
      if (this.#content.useless) this.#finish(this.#content.broken());
    }
    this.#flushSoon();
  }

  /** The slow path: one event is read as text; returns the offset after it. */
  #readEvent(bytes: Buffer, from: number): number {
    const whole = this.#decoder.idle || this.#decoder.fresh;
    const closed = whole ? this.#fast.close(bytes, from) : from;
    if (closed > from) return closed;
    const to = this.#decoder.read(bytes, from);
    const { event } = this.#decoder;
    if (event) this.#takeEvent(event, whole ? bytes.subarray(from, to) : undefined);
    return to;
  }

  #takeEvent(event: SseEvent, raw: Buffer | undefined): void {
    const data = event.data?.trim() ?? "";
    if (data === "[DONE]") {
      this.#endEvents();
      return;
    }
    if (data === "" && event.error === undefined && event.event !== "error") return;
    const chunk = parseObject(data);
    if (event.event === "error" || event.error !== undefined || chunk?.error) {
      throw this.#told(chunk?.error ?? chunk ?? event.error ?? data);
    }
    if (!chunk) throw invalid("The upstream sent an event that is not a JSON object.");
    const read = this.#content.read(chunk);
    const written = this.#content.take(read);
    if (raw) this.#fast.learn(read, raw, written);
  }

  /** One network read can come in many pieces, and end the run too: all of that leaves in one write. */
  #flushSoon(): void {
    if (this.#flushing || !this.#stream) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    const stream = this.#stream;
    stream?.flush();
    if (!stream?.blocked || this.#settled) return;
    this.#call?.pause();
    stream.onDrain(() => this.#call?.resume());
  }

  #endEvents(): void {
    const event = this.#decoder.end();
    if (event) this.#takeEvent(event, undefined);
    if (this.#settled) return;
    if (!this.#content.finished) {
      throw new GatewayError(
        "upstream_stream_interrupted",
        "The upstream ended its stream without a finish_reason: there was no content, or not all of it.",
      );
    }
    this.#finish(this.#content.end());
  }

  #collect(bytes: Buffer): void {
    this.#bodyBytes += bytes.length;
    if (this.#bodyBytes > MAX_BODY_BYTES) {
      throw new GatewayError(
        "response_too_large",
        `The upstream's answer is larger than ${MAX_BODY_BYTES} bytes.`,
      );
    }
    this.#body.push(bytes);
  }

  #endWhole(): void {
    const body = Buffer.concat(this.#body);
    if (this.#mode === "failure") throw upstreamFailure(this.#head, body, (text) => this.#target.scrub(text));
    this.#content.take(this.#content.read(readWholeReply(this.#head, body, (error) => this.#told(error))));
    this.#finish(this.#content.end());
  }

  #told(error: unknown): GatewayError {
    const text = this.#target.scrub(errorText(error));
    return new GatewayError("upstream_error", `The upstream reported an error: ${text}`);
  }

  #fail(error: unknown): void {
    this.#stream?.flush();
    if (error instanceof RangeError) this.#finish(invalid(`The upstream sent too much: ${error.message}.`));
    else this.#finish(error instanceof GatewayError ? this.#orCut(error) : (error as Error));
  }

  /** An answer that breaks off inside a call; of one that comes in one piece nobody can tell. */
  #orCut(error: GatewayError): GatewayError {
    const { code, message, options } = error;
    const isSilence = code === "upstream_stream_timeout";
    if (!isSilence && code !== "upstream_stream_interrupted") return error;
    const inCall = this.#content.insideCall;
    if (!inCall && !(isSilence && !this.#stream)) return error;
    const text = inCall ? `${message} That was inside a tool call; nothing of it was run.` : message;
    return new GatewayError(code, text, { ...options, cause: error, cutOff: true });
  }

  #finish(outcome: Reply | Error): void {
    if (this.#settled) return;
    this.#settled = true;
    if (!this.#ended) this.#release(outcome instanceof Error || outcome.stopped === true);
    this.#settle(outcome);
  }

  /** After a good end the connection gets a moment to close its body, so that it can be used again. */
  #release(abandoned: boolean): void {
    const call = this.#call;
    if (!call) return;
    if (abandoned) {
      call.abort();
      return;
    }
    // The end of the body mostly comes in the same read, and then no timer is needed.
    queueMicrotask(() => {
      if (!this.#ended) this.#afterDone = setTimeout(() => call.abort(), AFTER_DONE_MS).unref();
    });
  }
}

const invalid = (message: string) => new GatewayError("upstream_invalid_response", message);
