import { TextTemplate } from "../core/protocol/text-template.ts";
import { errorText, type ReadChunk } from "../core/protocol/visible.ts";
import { SseDecoder, type SseEvent } from "../core/sse.ts";
import { GatewayError } from "../errors.ts";
import { StreamAnswer } from "./answer-stream.ts";
import type { ReplyHandler, ReplyHead, UpstreamCall, UpstreamRequest, UpstreamTarget } from "./ports.ts";
import { type Reply, ReplyContent, type ReplyContext } from "./reply-content.ts";
import { type Mode, modeOf, parseObject } from "./reply-mode.ts";
import { KnownReply, onlyText } from "./reply-shapes.ts";
import { readWholeReply, upstreamFailure } from "./whole-reply.ts";

const MAX_EVENT_BYTES = 16 * 1024 * 1024;
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** How long a connection may go on after `[DONE]` before it is given up instead of kept for the next request. */
const AFTER_DONE_MS = 250;
/** Shapes are learned anew when they change; an upstream whose every event differs is not worth the trying. */
const MAX_LESSONS = 32;

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
  readonly #context: ReplyContext;
  readonly #content: ReplyContent;
  readonly #stream: StreamAnswer | undefined;
  readonly #settle: (outcome: Reply | Error) => void;
  readonly #decoder = new SseDecoder(MAX_EVENT_BYTES);
  readonly #known: KnownReply | undefined;
  #template: TextTemplate | undefined;
  #lessons = 0;
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
    this.#context = context;
    this.#content = new ReplyContent(context);
    this.#stream = context.answer instanceof StreamAnswer ? context.answer : undefined;
    this.#known = KnownReply.of(target, this.#stream);
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
    else if (head.contentType.startsWith("text/event-stream")) this.#mode = "events";
    else if (head.contentType !== "") this.#mode = "whole";
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
    let at = this.#decoder.fresh ? this.#openKnown(bytes) : 0;
    while (at < bytes.length && !this.#settled) {
      at = this.#forwardRun(bytes, at);
      if (at < bytes.length) at = this.#readEvent(bytes, at);
    }
    this.#flushSoon();
  }

  /** The beginning of a reply that begins like an earlier one; returns the offset after it. */
  #openKnown(bytes: Buffer): number {
    const opening = this.#known?.open(bytes);
    if (!opening) return 0;
    this.#decoder.skipStart();
    this.#content.note(opening.read);
    this.#template = this.#known?.template;
    return opening.end;
  }

  /** The fast path: as many events of the known shape as follow each other; returns the offset after them. */
  #forwardRun(bytes: Buffer, from: number): number {
    const template = this.#template;
    if (!template || !this.#decoder.idle) return from;
    const patched: Buffer[] = [];
    let at = from;
    for (let end = template.match(bytes, at); end >= 0; end = template.match(bytes, at)) {
      this.#keepText(template, bytes);
      if (!template.verbatim) {
        patched.push(template.head, bytes.subarray(template.textFrom, template.textTo), template.tail);
      }
      at = end;
    }
    if (patched.length > 0) this.#stream?.takeBytes(Buffer.concat(patched));
    else if (at > from)
      this.#stream?.takeBytes(at - from === bytes.length ? bytes : bytes.subarray(from, at));
    return at;
  }

  #keepText(template: TextTemplate, bytes: Buffer): void {
    if (!this.#context.keep) return;
    this.#content.kept.takeEscaped(
      template.member,
      bytes.toString("utf8", template.textFrom, template.textTo),
    );
  }

  /** The slow path: one event is read as text; returns the offset after it. */
  #readEvent(bytes: Buffer, from: number): number {
    const whole = this.#decoder.idle || this.#decoder.fresh;
    const closing = whole ? this.#known?.close(bytes, from) : undefined;
    if (closing) {
      this.#content.take(closing.read);
      return closing.end;
    }
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
    if (!raw) return;
    if (written === undefined) this.#known?.learn(read, raw);
    else this.#learn(read, raw, written);
  }

  /** After a chunk that only said text, the next ones of its shape need no reading. */
  #learn(read: ReadChunk, raw: Buffer, written: string): void {
    const member = this.#lessons === MAX_LESSONS ? undefined : onlyText(read);
    // Only the first choice goes on in a next round, so what another one says must not be kept.
    if (member === undefined || (read.choices[0]?.index !== 0 && this.#context.keep)) return;
    this.#lessons++;
    this.#template = TextTemplate.learn(raw, written, member);
    if (this.#template) this.#known?.learnText(this.#template, read);
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
    this.#finish(
      error instanceof RangeError
        ? invalid(`The upstream sent too much: ${error.message}.`)
        : (error as Error),
    );
  }

  #finish(outcome: Reply | Error): void {
    if (this.#settled) return;
    this.#settled = true;
    if (!this.#ended) this.#release(outcome instanceof Error);
    this.#settle(outcome);
  }

  /** After a good end the connection gets a moment to close its body, so that it can be used again. */
  #release(failed: boolean): void {
    const call = this.#call;
    if (!call) return;
    if (failed) {
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
