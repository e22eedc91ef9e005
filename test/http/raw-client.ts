import { connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** Starts `app` on a free loopback port; it closes with the test. */
export async function listen(
  app: FastifyInstance,
  t: { after(fn: () => Promise<void>): void },
): Promise<number> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  t.after(() => app.close());
  return portOf(app.server.address());
}

/** The port of a listening server. */
export function portOf(address: unknown): number {
  return (address as { port: number }).port;
}

/** What came back before the connection ended or `enough` was met. */
export interface RawAnswer {
  /** Status of the first answer; 0 when the connection ended without one. */
  status: number;
  /** How many status lines came. */
  answers: number;
  text: string;
  /** The JSON body of a single answer that was read to its end. */
  json(): { error: { code: string; message: string; type: string } };
  ms: number;
}

/** Writes bytes to a socket of its own and reads until the server closes it, or until `enough(text)`. */
export function exchange(
  port: number,
  bytes: string | Buffer,
  enough: (text: string) => boolean = () => false,
  during?: (socket: Socket) => void,
): Promise<RawAnswer> {
  const began = performance.now();
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1");
    const finish = () => {
      socket.destroy();
      resolve({
        status: Number(/^HTTP\/1\.\d (\d{3})/.exec(text)?.[1] ?? 0),
        answers: text.match(/HTTP\/1\.\d \d{3} /g)?.length ?? 0,
        text,
        json: () => JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)),
        ms: performance.now() - began,
      });
    };
    socket.on("connect", () => {
      socket.write(bytes);
      during?.(socket);
    });
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (enough(text)) finish();
    });
    socket.on("error", finish).on("close", finish);
  });
}
