import { setTimeout as delay } from "node:timers/promises";
import type { App } from "./app.ts";

export interface DrainTimes {
  /** How long what is open may go on, in milliseconds. */
  openMs: number;
  /** How long it then has to take its leave, in milliseconds. */
  graceMs: number;
}

/**
 * Brings an app to its end.
 *
 * 1. At once `/readyz` answers 503, no new connection is taken and idle ones are closed.
 * 2. After `openMs` every open run is cut off: an error ends its stream and reads are aborted; writes that have begun go on.
 * 3. After `graceMs` more every connection is closed.
 *
 * Resolves when all is closed, with whether anything had to be cut off. Only a write that outlives both times delays it further.
 */
export async function drain(
  { server, engine, retire }: App,
  { openMs, graceMs }: DrainTimes,
): Promise<boolean> {
  retire();
  const closed = server.close().then(() => true as const);
  if (await within(openMs, closed)) return false;
  engine.cutOff();
  if (!(await within(graceMs, closed))) server.server.closeAllConnections();
  return closed;
}

async function within(ms: number, done: Promise<true>): Promise<boolean> {
  const stop = new AbortController();
  const late = delay(ms, false, { signal: stop.signal }).catch(() => false);
  return Promise.race([done, late]).finally(() => stop.abort());
}
