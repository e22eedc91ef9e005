import { GatewayError } from "../../errors.ts";
import { Health } from "../calls/health.ts";

/** Several that are sent away together must not come back together. */
const MAX_WAIT_S = 3;

/** The health of model servers, each under its configured name. */
export class UpstreamHealth {
  readonly #tended = new Map<string, Health>();
  readonly #onOpen: (upstream: string) => void;
  readonly #now: () => number;

  /** `onOpen` is told the name of an upstream that is not asked any more. `now` gives milliseconds that do not go backwards. */
  constructor(onOpen: (upstream: string) => void = () => {}, now: () => number = () => performance.now()) {
    this.#onOpen = onOpen;
    this.#now = now;
  }

  of(upstream: string): Health {
    const known = this.#tended.get(upstream);
    if (known) return known;
    const health = new Health(() => this.#onOpen(upstream), this.#now);
    this.#tended.set(upstream, health);
    return health;
  }

  /** The names of those that are not asked at present. */
  get leftAlone(): string[] {
    return [...this.#tended].filter(([, health]) => health.isLeftAlone).map(([name]) => name);
  }
}

/** What a client is told in place of an upstream that is not asked. */
export function leftAlone(): GatewayError {
  const seconds = 1 + Math.floor(Math.random() * MAX_WAIT_S);
  return new GatewayError(
    "upstream_unavailable",
    "The upstream was not asked: too many of the latest requests to it have failed. Try again later.",
    { transient: true, upstream: { status: 503 }, headers: { "retry-after": String(seconds) } },
  );
}

/** Whether a failure speaks of the server: it could not be reached, did not answer, or says itself that it failed. */
export function isIll({ options }: GatewayError): boolean {
  return options.transient === true || (options.upstream?.status ?? 0) >= 500;
}
