/** Why a run was given up: nobody is there to read it. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";

  constructor() {
    super("the client has left");
  }
}

/** The client's end of a stream: whole SSE frames go in. */
export interface ClientSink {
  /** Status and headers are sent: an error can no longer be an HTTP status. */
  readonly started: boolean;
  /** Sends status and headers now, if they are not sent yet. */
  start(): void;
  /** `false`: the client is slower than the upstream; wait for `onDrain`. */
  write(frames: Buffer | string): boolean;
  /** Calls back once, when the client has caught up or is gone. */
  onDrain(callback: () => void): void;
}
