import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** A socket that nobody has used by then is closed. */
const KEEP_MS = 5_000;

/**
 * Connections that are made before there is a request for them, at most one for each origin.
 *
 * 1. They are made by the connector given, so whatever it refuses is refused here.
 * 2. One that fails costs nothing: the request makes its own.
 */
export class WarmSockets {
  readonly #connect: buildConnector.connector;
  readonly #kept = new Map<string, { socket: Socket; forget: () => void }>();
  readonly #pending = new Set<string>();
  #closed = false;

  constructor(connect: buildConnector.connector) {
    this.#connect = connect;
  }

  /** For undici's `connect` option: gives the socket that is ready, else connects. */
  readonly connector: buildConnector.connector = (target, callback) => {
    const socket = this.#take(`${target.protocol}//${target.host}`);
    if (!socket) return this.#connect(target, callback);
    process.nextTick(() => {
      if (socket.destroyed) this.#connect(target, callback);
      else callback(null, socket);
    });
    return undefined;
  };

  /** Connects to an origin, unless it is being done or has been. */
  warm({ protocol, host, hostname, port }: URL): void {
    const origin = `${protocol}//${host}`;
    if (this.#closed || this.#kept.has(origin) || this.#pending.has(origin)) return;
    this.#pending.add(origin);
    this.#connect({ protocol, host, hostname, port }, (error, socket) => {
      this.#pending.delete(origin);
      if (error) return;
      if (this.#closed) socket.destroy();
      else this.#keep(origin, socket);
    });
  }

  /** Closes what is not in use. */
  close(): void {
    this.#closed = true;
    for (const { socket } of this.#kept.values()) socket.destroy();
  }

  #keep(origin: string, socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), KEEP_MS).unref();
    const forget = () => {
      clearTimeout(timer);
      socket.off("close", forget).off("error", forget);
      this.#kept.delete(origin);
    };
    socket.on("close", forget).on("error", forget);
    this.#kept.set(origin, { socket, forget });
  }

  #take(origin: string): Socket | undefined {
    const kept = this.#kept.get(origin);
    kept?.forget();
    return kept?.socket.readableEnded ? undefined : kept?.socket;
  }
}
