import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { crashPoints } from "./crash-point.ts";
import { Approvals, type ApprovalsDeps } from "./engine/approvals/approvals.ts";
import { Writes } from "./engine/approvals/writes.ts";
import { newId } from "./engine/new-id.ts";
import type { Stores } from "./engine/ports/stores.ts";
import { Authenticator, type AuthSettings } from "./http/auth.ts";
import type { AddressGuard } from "./outbound/address-guard.ts";
import { createWebhook } from "./outbound/webhook.ts";

/** What the composition root has made before. */
interface ApprovalParts
  extends Pick<ApprovalsDeps, "registry" | "transport" | "health" | "sessions" | "telemetry"> {
  config: Config;
  stores: Stores;
  auth: AuthSettings;
  guard: AddressGuard;
  log: Logger;
  env: Readonly<Record<string, string | undefined>>;
}

/** What asks people, and what carries out what they approve. */
export function openApprovals({
  config,
  stores,
  auth,
  registry,
  guard,
  transport,
  health,
  sessions,
  telemetry,
  log,
  env,
}: ApprovalParts) {
  const reached = crashPoints(env);
  const webhook = openWebhook(config, guard, log);
  const writes = new Writes({ ledger: stores.ledger, now: Date.now, newId, ...(reached && { reached }) });
  const authenticator = new Authenticator(auth);
  const approvals = new Approvals({
    ledger: stores.ledger,
    writes,
    transport,
    health,
    registry,
    sessions,
    findCaller: (name) => authenticator.named(name),
    telemetry,
    ...(reached && { reached }),
    ...(webhook && { notify: webhook.notify }),
    ttlMs: config.approvals.ttl_s * 1000,
    locale: config.locale,
    now: Date.now,
  });
  return { writes, approvals, webhook };
}

function openWebhook({ approvals }: Config, policy: AddressGuard, log: Logger) {
  if (!approvals.webhook) return undefined;
  const onFailed = (error: string) => log.warn({ stage: "webhook", status: "failed", error });
  return createWebhook({ ...approvals.webhook, policy, now: Date.now, onFailed });
}
