import { availableParallelism } from "node:os";

/**
 * How many processes there will be. `auto` is as many as there are processors, where the store is one for many processes. More than one with another
 * store is a fault, which `fault` is told.
 */
export function readWorkers(
  given: string | undefined,
  store: string,
  fault: (expected: string) => void,
): number {
  const isShared = !/^(?:sqlite|memory):/.test(store);
  if (given === undefined || given === "auto")
    return given === "auto" && isShared ? availableParallelism() : 1;
  const count = Number(given);
  if (count > 1 && !isShared) {
    fault("1 with this store; several processes need one that they can share, such as redis://HOST:PORT/DB");
  }
  return count;
}
