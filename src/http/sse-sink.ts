import type { ServerResponse } from "node:http";
import "@fastify/sse";
import type { FastifyReply } from "fastify";
import type { ClientSink } from "../engine/ports.ts";

/** How long a client may take nothing at all before it counts as gone. */
const STALL_MS = 30_000;

/**
 * Writes whole SSE frames to one client.
 *
 * 1. Waiting ends when the client has caught up or is gone, whichever comes first.
 * 2. `signal` aborts when the client leaves before the end, also before the first byte.
 * 3. Frames are never split, so a keepalive can only land between two of them.
 * 4. A client that takes nothing for 30 s is let go.
 * 5. The connection ends with the stream if the client asked for that, or speaks HTTP/1.0.
 */
export class SseSink implements ClientSink {
  readonly #reply: FastifyReply;
  readonly #raw: ServerResponse;
  readonly #gone = new AbortController();
  #waiting: (() => void) | undefined;
  #stall: NodeJS.Timeout | undefined;
  #started = false;

  constructor(reply: FastifyReply) {
    this.#reply = reply;
    this.#raw = reply.raw;
    this.#raw.once("close", () => {
      if (!this.#raw.writableFinished) this.#gone.abort(new ClientGone());
      this.#wake();
    });
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Whether the answer is committed: its status can no longer change. */
  get started(): boolean {
    return this.#started;
  }

  start(): void {
    if (this.#started || this.#raw.destroyed) return;
    this.#started = true;
    this.#reply.header("content-type", "text/event-stream; charset=utf-8");
    this.#reply.header("cache-control", "no-cache, no-transform");
    // The plugin says keep-alive to everybody, also to clients that take the end of the connection for the end of the stream.
    if (endsConnection(this.#reply)) this.#reply.header("connection", "close");
    this.#reply.sse.sendHeaders(200);
  }

  write(frames: Buffer | string): boolean {
    if (this.#raw.destroyed || this.#raw.writableEnded) return true;
    this.start();
    if (this.#raw.write(frames)) return true;
    this.#stall ??= setTimeout(() => this.#raw.destroy(), STALL_MS);
    return false;
  }

  onDrain(callback: () => void): void {
    if (this.#raw.destroyed || !this.#raw.writableNeedDrain) {
      clearTimeout(this.#stall);
      this.#stall = undefined;
      callback();
      return;
    }
    if (!this.#waiting) this.#raw.once("drain", () => this.#wake());
    this.#waiting = callback;
  }

  #wake(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }
}

function endsConnection({ request: { raw } }: FastifyReply): boolean {
  return raw.httpVersionMinor === 0 || /(?:^|,)\s*close\s*(?:,|$)/i.test(raw.headers.connection ?? "");
}

/** Why a run was given up: nobody is there to read it. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";

  constructor() {
    super("the client has left");
  }
}

/** The signal of a client that waits for a whole answer. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new ClientGone());
  });
  return gone.signal;
}
