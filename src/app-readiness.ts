import type { Approvals } from "./engine/approvals/approvals.ts";
import type { Stores } from "./engine/ports/stores.ts";
import type { ToolRegistry } from "./engine/registry/registry.ts";

/** Whether the gateway should get requests. */
export interface Readiness {
  /** Takes up what was left behind, before the first request. A store that is only waited for may tell of it later. */
  recover(): Promise<void>;
  /** Why the gateway should get no requests, if it should not; rejects if the store does not answer. */
  ready(): Promise<string | undefined>;
  /** No requests from now on. */
  retire(): void;
}

/** A gateway is ready when its store answers, its tools are read and what was left behind is taken up; until it will stop. */
export function watchReadiness(stores: Stores, registry: ToolRegistry, approvals: Approvals): Readiness {
  let isRetired = false;
  let isRecovered = false;
  const recover = async () => {
    await approvals.recover();
    isRecovered = true;
  };
  return {
    recover: () => (registry.isRead ? recover() : Promise.resolve()),
    async ready() {
      if (isRetired) return "the gateway is stopping";
      await stores.ping();
      if (!registry.isRead) return "the tools have not been read yet";
      if (!isRecovered) await recover();
      return undefined;
    },
    retire() {
      isRetired = true;
    },
  };
}
