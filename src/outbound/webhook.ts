import { createHmac } from "node:crypto";
import { Agent } from "undici";
import { stringifyJson } from "../core/json/stringify.ts";
import type { JsonValue } from "../core/json/value.ts";
import { approvalView, visibleJson } from "../engine/approvals/view.ts";
import { retrying } from "../engine/calls/retry.ts";
import type { LedgerEntry } from "../engine/ports/ledger.ts";
import type { AddressGuard } from "./address-guard.ts";

export interface WebhookOptions {
  url: string;
  secret: string;
  policy: AddressGuard;
  /** Unix milliseconds. */
  now(): number;
  /** A message could not be delivered; `reason` holds no address. */
  onFailed(reason: string): void;
}

const TIMEOUT_MS = 5_000;
const RETRIES = 3;
const BASE_MS = 1_000;
/** Messages on their way at the same time; what is more is dropped, for whoever answers so slowly has the API. */
const MAX_OPEN = 100;

/**
 * Tells a server about approvals that are asked for and decisions that were taken, with one POST each.
 *
 * 1. The body is signed: `x-toolweir-signature: t=SECONDS,v1=HEX` is the HMAC-SHA256 of `SECONDS.BODY` under the secret.
 * 2. The network policy of tools holds. Redirects are not followed.
 * 3. Nobody waits for it; what fails is tried again three times.
 */
export function createWebhook({ url, secret, policy, now, onFailed }: WebhookOptions) {
  const agent = new Agent({
    connect: policy.connector(),
    connections: 4,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const stop = new AbortController();
  let open = 0;

  const post = async (body: string): Promise<string | undefined> => {
    const { origin, pathname, search } = new URL(url);
    const time = Math.floor(now() / 1000);
    const headers = {
      "content-type": "application/json",
      "user-agent": "toolweir",
      "x-toolweir-signature": `t=${time},v1=${sign(secret, `${time}.${body}`)}`,
    };
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const { statusCode, body: answer } = await agent.request({
        origin,
        path: pathname + search,
        method: "POST",
        headers,
        body,
        signal,
      });
      await answer.dump();
      return statusCode >= 200 && statusCode < 300 ? undefined : `status ${statusCode}`;
    } catch {
      return "no answer";
    }
  };

  return {
    notify(event: "requested" | "decided", entry: LedgerEntry): void {
      const refusal =
        policy.allowUrl(new URL(url)) ?? (open >= MAX_OPEN ? "too many messages are waiting" : undefined);
      if (refusal !== undefined) {
        onFailed(refusal);
        return;
      }
      open++;
      const message = { type: `approval.${event}`, approval: approvalView(entry) };
      const body = visibleJson(stringifyJson(message as unknown as JsonValue));
      const again = (reason: string | undefined) => (reason === undefined ? undefined : {});
      retrying({ retries: RETRIES, baseMs: BASE_MS, again }, stop.signal, () => post(body))
        .then(
          (reason) => reason !== undefined && onFailed(reason),
          () => {},
        )
        .finally(() => open--);
    },
    async close(): Promise<void> {
      stop.abort();
      await agent.destroy();
    },
  };
}

const sign = (secret: string, text: string): string =>
  createHmac("sha256", secret).update(text).digest("hex");
