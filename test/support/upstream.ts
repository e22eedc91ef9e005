import type {
  ReplyHandler,
  ReplyHead,
  Upstream,
  UpstreamCall,
  UpstreamRequest,
  UpstreamTarget,
} from "../../src/engine/ports/upstream.ts";
import type { GatewayError } from "../../src/errors.ts";

/** One reply of a scripted upstream. */
export interface ScriptedReply extends Partial<ReplyHead> {
  /** One element a read. */
  body?: readonly (string | Buffer)[] | string;
  /** How it goes on after the body: the end, an error, or nothing at all. */
  end?: "close" | "hang" | GatewayError;
}

/** A scripted upstream, and what it was asked. */
export interface FakeTarget extends UpstreamTarget {
  readonly requests: UpstreamRequest[];
  /** The body of the request with this number, from 0. */
  asked(number: number): Record<string, unknown>;
  /** Calls that were given up. */
  aborted: number;
}

/** A target that answers its requests with one reply after the other; a string is the body of an event stream. */
export function fakeTarget(
  replies: readonly (ScriptedReply | string)[],
  settings: Partial<Pick<UpstreamTarget, "name" | "retry" | "protocol" | "tools">> & { secret?: string } = {},
): FakeTarget {
  const requests: UpstreamRequest[] = [];
  const target: FakeTarget = {
    name: settings.name ?? "main",
    retry: settings.retry ?? 0,
    protocol: settings.protocol ?? "native",
    tools: settings.tools ?? "native",
    requests,
    aborted: 0,
    asked: (number) => JSON.parse(String(requests[number]?.body)) as Record<string, unknown>,
    send(request, handler) {
      const reply = replies[requests.push(request) - 1] ?? { status: 500, body: "no reply is scripted" };
      const play = new Play(typeof reply === "string" ? { body: reply } : reply, handler, () => {
        target.aborted++;
      });
      queueMicrotask(() => play.begin());
      return play;
    },
    scrub: (text) => (settings.secret ? text.replaceAll(settings.secret, "[redacted]") : text),
  };
  return target;
}

/** The targets, whatever the model. */
export const fakeUpstream = (...targets: readonly UpstreamTarget[]): Upstream => ({ route: () => targets });

class Play implements UpstreamCall {
  readonly #reply: ScriptedReply;
  readonly #handler: ReplyHandler;
  readonly #onAbort: () => void;
  readonly #reads: Buffer[];
  #begun = false;
  #paused = false;
  #over = false;
  #scheduled = false;

  constructor(reply: ScriptedReply, handler: ReplyHandler, onAbort: () => void) {
    this.#reply = reply;
    this.#handler = handler;
    this.#onAbort = onAbort;
    const { body = [] } = reply;
    this.#reads = [body]
      .flat()
      .map((read) => Buffer.from(read))
      .filter((read) => read.length > 0);
  }

  begin(): void {
    if (this.#over) return;
    const { status = 200, contentType = "text/event-stream", retryAfterMs } = this.#reply;
    if (status > 0) this.#handler.onHead({ status, contentType, retryAfterMs });
    this.#begun = true;
    this.#play();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    if (this.#begun) this.#play();
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#onAbort();
  }

  /** One read at a time, with what follows it in the same turn of the loop in between, as a socket does it. */
  #play(): void {
    if (this.#paused || this.#over || this.#scheduled) return;
    const read = this.#reads.shift();
    if (!read) {
      this.#finish();
      return;
    }
    this.#handler.onData(read);
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#play();
    });
  }

  #finish(): void {
    const { end = "close" } = this.#reply;
    if (end === "hang") return;
    this.#over = true;
    if (end === "close") this.#handler.onEnd();
    else this.#handler.onError(end);
  }
}
