import type { Logger } from "pino";
import { auditedLedger } from "./engine/audit/audited-ledger.ts";
import type { AuditEvent, AuditLog } from "./engine/ports/audit.ts";
import type { Stores } from "./engine/ports/stores.ts";

/** Writes events down. What has happened cannot be taken back, so an event that the store does not take goes into the log as an error. */
export function recorder(audit: AuditLog, log: Logger): (event: AuditEvent) => Promise<void> {
  return async (event) => {
    try {
      await audit.append(event);
    } catch (err) {
      log.error({ stage: "audit", status: "failed", event, err });
    }
  };
}

/** The stores, with decisions about calls recorded. */
export function auditedStores(stores: Stores, log: Logger): Stores {
  return { ...stores, ledger: auditedLedger(stores.ledger, recorder(stores.audit, log)) };
}
