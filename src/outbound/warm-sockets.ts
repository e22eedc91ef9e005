import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** A socket that nobody has used by then is closed, and an origin that could not be reached is tried again. */
const KEEP_MS = 5_000;

/** A connection that is being made. */
interface Pending {
  /** What the connector returned: undici cancels an attempt through it. */
  attempt: unknown;
  /** The request that waits for it. */
  taker: buildConnector.Callback | undefined;
}

/**
 * Connections that are made before there is a request for them, at most one at a time for each origin.
 *
 * 1. They are made by the connector given, so whatever it refuses is refused here.
 * 2. A request takes the one that is ready, or waits for the one that is being made; what becomes of that is what becomes of its own.
 * 3. One that fails before there is a request costs nothing: the request makes its own.
 */
export class WarmSockets {
  readonly #connect: buildConnector.connector;
  readonly #ready = new Map<string, { socket: Socket; forget: () => void }>();
  readonly #pending = new Map<string, Pending>();
  /** Origins that could not be reached just now. */
  readonly #failed = new Set<string>();
  #closed = false;

  constructor(connect: buildConnector.connector) {
    this.#connect = connect;
  }

  /** For undici's `connect` option: gives the socket that is ready or on its way, else connects. */
  readonly connector: buildConnector.connector = (target, callback) => {
    const origin = `${target.protocol}//${target.host}`;
    const socket = this.#take(origin);
    if (socket) {
      process.nextTick(() => {
        if (socket.destroyed) this.#connect(target, callback);
        else callback(null, socket);
      });
      return undefined;
    }
    const pending = this.#pending.get(origin);
    if (!pending || pending.taker) return this.#connect(target, callback);
    pending.taker = callback;
    return pending.attempt;
  };

  /** Connects to an origin, unless that is being done, has been done or has just failed. */
  warm({ protocol, host, hostname, port }: URL): void {
    const origin = `${protocol}//${host}`;
    if (this.#closed || [this.#ready, this.#pending, this.#failed].some((busy) => busy.has(origin))) return;
    const pending: Pending = { attempt: undefined, taker: undefined };
    this.#pending.set(origin, pending);
    const target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ""), port };
    pending.attempt = this.#connect(target, (error, socket) => {
      this.#pending.delete(origin);
      if (pending.taker) {
        if (error) pending.taker(error, null);
        else pending.taker(null, socket);
      } else if (error) this.#rest(origin);
      else if (this.#closed) socket.destroy();
      else this.#keep(origin, socket);
    });
  }

  /** Closes what is not in use. */
  close(): void {
    this.#closed = true;
    for (const { socket } of this.#ready.values()) socket.destroy();
  }

  #rest(origin: string): void {
    this.#failed.add(origin);
    setTimeout(() => this.#failed.delete(origin), KEEP_MS).unref();
  }

  #keep(origin: string, socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), KEEP_MS).unref();
    const forget = () => {
      clearTimeout(timer);
      socket.off("close", forget).off("error", forget);
      this.#ready.delete(origin);
    };
    socket.on("close", forget).on("error", forget);
    this.#ready.set(origin, { socket, forget });
  }

  #take(origin: string): Socket | undefined {
    const ready = this.#ready.get(origin);
    ready?.forget();
    return ready?.socket.readableEnded ? undefined : ready?.socket;
  }
}
