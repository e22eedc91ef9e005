import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { KeyBook } from "./engine/keys/key-book.ts";
import type { Stores } from "./engine/ports/stores.ts";
import { TokenCallers } from "./http/token-callers.ts";

/** How soon a key that was made or revoked by another process is known. */
const POLL_MS = 2_000;

/** The keys that were made over the API, and all that says who may call. A store of many processes that does not answer yet is asked again. */
export async function openKeys(config: Config, { documents, tools }: Stores, log: Logger) {
  const isShared = tools.watch !== undefined;
  const keys = new KeyBook({
    documents,
    pepper: config.keyPepper ?? "",
    ...(isShared && { pollMs: POLL_MS }),
    now: Date.now,
  });
  await keys.refresh().catch((err: unknown) => {
    if (!isShared) throw err;
    log.warn({ stage: "keys", status: "failed", err });
  });
  const tokens = config.auth.oidc && new TokenCallers(config.auth.oidc);
  return { keys, auth: { adminKey: config.adminKey, ...config.auth, stored: keys, tokens } };
}

/** The names of all who may call, and so may have sessions: keys of the settings, keys made later, and those who need none. */
export function callerNames({ auth, adminKey }: Config, keys: KeyBook): string[] {
  const isOpen = auth.mode === "none" || (adminKey === undefined && auth.keys.length === 0 && !auth.oidc);
  const own = ["admin", ...(isOpen ? ["anonymous"] : [])].filter((name) => name !== "admin" || adminKey);
  return [...auth.keys.map(({ name }) => name), ...keys.list().map(({ name }) => name), ...own];
}
