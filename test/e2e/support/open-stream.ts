import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Gateway } from "./gateway.ts";

/** What one read of the socket brought, and when, on the clock of `performance.now()`. */
export interface Piece {
  at: number;
  text: string;
}

/** A chat completion on a connection of its own, watched while it goes on. */
export class OpenStream {
  readonly pieces: Piece[] = [];
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** When the answer was complete, or the connection broke. */
  endedAt: number | undefined;
  /** The answer ended before it was complete. */
  broken = false;
  /** Set right after the request: reading stops by itself after the first piece, until `resume`. */
  pausesAtOnce = false;
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;

  constructor(gateway: Pick<Gateway, "url">, body: unknown, headers: Record<string, string> = {}) {
    this.#request = request(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", ...headers },
    });
    this.#request.on("response", (response) => this.#read(response));
    this.#request.on("error", () => this.#end(true));
    this.#request.end(JSON.stringify(body));
  }

  /** The body so far. */
  get text(): string {
    return this.pieces.map((piece) => piece.text).join("");
  }

  /** Resolves when the body holds `part`; throws when it ended without, or after `ms`. */
  async has(part: string, ms = 5_000): Promise<void> {
    await eventually(`the stream holds ${part}`, () => this.text.includes(part), ms);
  }

  /** Resolves when the answer is over, with its body. */
  async end(ms = 20_000): Promise<string> {
    await eventually("the stream ends", () => this.endedAt !== undefined, ms);
    return this.text;
  }

  /** Reads on after a pause, in which the buffers of the connection filled up. */
  resume(): void {
    this.#response?.resume();
  }

  /** Closes the connection like a client that has left; returns the time. */
  hangUp(): number {
    this.#request.destroy();
    return performance.now();
  }

  #read(response: IncomingMessage): void {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      this.pieces.push({ at: performance.now(), text });
      if (this.pausesAtOnce && this.pieces.length === 1) response.pause();
    });
    response.on("close", () => this.#end(!response.complete));
    response.on("error", () => this.#end(true));
  }

  #end(broken: boolean): void {
    this.broken ||= broken;
    this.endedAt ??= performance.now();
  }
}

/** Waits until `holds`; throws after `ms`, with `what` was waited for. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  ms = 5_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}.`);
    await sleep(10);
  }
}

/** The value of one series of `/metrics`, for example `toolweir_open_runs`; 0 where there is none yet. */
export async function metric(gateway: Pick<Gateway, "url">, series: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const line = text.split("\n").find((other) => other.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

/** The gauge of open runs. */
export function openRuns(gateway: Pick<Gateway, "url">): Promise<number> {
  return metric(gateway, "toolweir_open_runs");
}

/** Throws unless the gauge of open runs falls to 0 within half a second. */
export async function settled(gateway: Pick<Gateway, "url">): Promise<void> {
  await eventually("no run is open", async () => (await openRuns(gateway)) === 0, 500);
}
