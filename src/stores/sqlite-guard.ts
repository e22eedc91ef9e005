import { GatewayError } from "../errors.ts";

/** Runs a piece of work on the database; whatever it throws comes out as `store_unavailable`, with the fault as its cause. */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new GatewayError("store_unavailable", "The gateway's store does not answer. Try again later.", {
      cause: error,
    });
  }
}
