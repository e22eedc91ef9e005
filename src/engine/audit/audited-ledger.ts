import type { AuditEvent } from "../ports/audit.ts";
import type { LedgerChange, LedgerEntry, LedgerStore } from "../ports/ledger.ts";

/** The ledger, with a record of every decision of a person about a call, however it came. `record` must not fail. */
export function auditedLedger(
  ledger: LedgerStore,
  record: (event: AuditEvent) => Promise<void>,
): LedgerStore {
  return {
    add: (entry, maxPending) => ledger.add(entry, maxPending),
    get: (id) => ledger.get(id),
    list: (filter) => ledger.list(filter),
    expire: () => ledger.expire(),
    recover: (owner) => ledger.recover(owner),
    countPending: () => ledger.countPending(),
    async change(id, when, change) {
      const entry = await ledger.change(id, when, change);
      const event = entry && eventOf(entry, change);
      if (event) await record(event);
      return entry;
    },
  };
}

function eventOf(entry: LedgerEntry, change: LedgerChange): AuditEvent | undefined {
  const { id, tool, caller, argumentsHash: hash, state } = entry;
  const common = { target: id, request_id: null };
  const details = { tool, asked_by: caller, arguments_sha256: hash };
  if (change.decision !== undefined)
    return { ...common, action: `approval.${change.decision}`, actor: change.decidedBy ?? "", details };
  if (change.resolvedBy !== undefined)
    return {
      ...common,
      action: "approval.resolved",
      actor: change.resolvedBy,
      details: { ...details, state },
    };
  return undefined;
}
