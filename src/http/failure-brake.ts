import { GatewayError } from "../errors.ts";

const WINDOW_MS = 60_000;
const ALLOWED = 50;
const ADDRESSES = 10_000;

/**
 * Counts refused keys by address and minute. The 51st of a minute and those after it are 429, so that a client with a wrong key
 * slows down. Addresses are forgotten together when there are more than 10,000.
 */
export class FailureBrake {
  readonly #now: () => number;
  readonly #failures = new Map<string, { count: number; endsAt: number }>();

  /** `now` counts milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes a refusal. Throws `rate_limit_exceeded` when there were too many. */
  failed(address: string | undefined): void {
    if (address === undefined) return;
    const now = this.#now();
    let entry = this.#failures.get(address);
    if (!entry || entry.endsAt <= now) {
      if (this.#failures.size >= ADDRESSES) this.#failures.clear();
      entry = { count: 0, endsAt: now + WINDOW_MS };
      this.#failures.set(address, entry);
    }
    if (++entry.count <= ALLOWED) return;
    throw new GatewayError("rate_limit_exceeded", "Too many requests with an invalid API key.", {
      headers: { "retry-after": String(Math.ceil((entry.endsAt - now) / 1000)) },
    });
  }
}
