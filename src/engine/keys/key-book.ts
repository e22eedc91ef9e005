import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { ToolLevel } from "../../core/tool.ts";
import { GatewayError } from "../../errors.ts";
import { ChangingDocuments } from "../changing-documents.ts";
import type { DocumentStore } from "../ports/stores.ts";
import type { Rate } from "../rates/rates.ts";

/** What the holder of a key is to the gateway. No role includes another, but `admin` may do everything. */
export type Role = "client" | "approver" | "tools_admin" | "metrics" | "admin";

/** What a key may do. Member names are those of the REST API. */
export interface KeyGrant {
  /** Its holder's name, of its own among all keys. */
  name: string;
  role: Role;
  /** Globs over the names of tools. */
  tools: readonly string[];
  max_level: ToolLevel;
  /** A client may decide about calls that wait for a person. */
  approve: boolean;
  rate?: Rate;
  /** Unix milliseconds; absent where it does not expire. */
  expires_at?: number;
}

/** A key as it is kept: of its secret only a digest. */
export interface KeyRecord extends KeyGrant {
  id: string;
  /** SHA-256 in hexadecimal over the pepper and the secret. Enough for a secret of 256 random bits. */
  digest: string;
  created_at: number;
  created_by: string;
}

export interface KeyBookDeps {
  documents: DocumentStore;
  /** Goes into every digest, and is kept elsewhere than the store. */
  pepper: string;
  /** How often keys are read again, in milliseconds; absent where no other process changes them. */
  pollMs?: number;
  /** Unix milliseconds. */
  now(): number;
}

type Records = Readonly<Record<string, KeyRecord>>;

/** Every key that is made begins with it. */
export const KEY_PREFIX = "tgk_";

const PLACE = "keys";
/** As good as for ever. */
const TTL_MS = 50 * 365 * 24 * 3_600_000;
/** Without an answer of the store for so long no key counts: one of them may have been revoked. */
const TRUSTED_MS = 60_000;
const KEY = /^tgk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;
const NOBODY = "0".repeat(64);

/**
 * Keys that were made over the API. They are known to every process with the same store; a revoked one opens nothing after `pollMs`, and at once in
 * the process that revoked it.
 */
export class KeyBook {
  readonly #deps: KeyBookDeps;
  readonly #documents: ChangingDocuments<Records>;
  readonly #poll: NodeJS.Timeout | undefined;
  #records: Records = {};
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(deps: KeyBookDeps) {
    this.#deps = deps;
    this.#documents = new ChangingDocuments(deps.documents, "key", deps.now);
    const read = () => void this.refresh().catch(() => {});
    this.#poll = deps.pollMs === undefined ? undefined : setInterval(read, deps.pollMs).unref();
  }

  /** Reads the keys. Rejects with `store_unavailable`. */
  async refresh(): Promise<void> {
    this.#take((await this.#documents.load(PLACE))?.value ?? {});
  }

  /** The key that a token is, if it is one that counts now. It takes as long for all that look like keys. */
  check(token: string): KeyRecord | undefined {
    const parts = KEY.exec(token);
    if (!parts?.[1] || !parts[2]) return undefined;
    const record = this.#trusted()[parts[1]];
    const given = Buffer.from(this.#digest(parts[2]), "hex");
    const isRight = timingSafeEqual(given, Buffer.from(record?.digest ?? NOBODY, "hex"));
    return isRight && record && this.#isGood(record) ? record : undefined;
  }

  /** The key of this name, if it counts now. */
  named(name: string): KeyRecord | undefined {
    return Object.values(this.#trusted()).find((record) => record.name === name && this.#isGood(record));
  }

  /** All keys, also those that have expired, the oldest first. */
  list(): KeyRecord[] {
    return Object.values(this.#records).toSorted((a, b) => a.created_at - b.created_at);
  }

  /** Makes a key. `key` is told now and never again. Throws `key_exists` for a name that another one has, and `store_unavailable`. */
  async create(grant: KeyGrant, by: string): Promise<{ record: KeyRecord; key: string }> {
    const id = randomBytes(8).toString("hex");
    const secret = randomBytes(32).toString("base64url");
    const record = {
      ...grant,
      id,
      digest: this.#digest(secret),
      created_at: this.#deps.now(),
      created_by: by,
    };
    const changed = await this.#documents.change(PLACE, TTL_MS, (records = {}) => {
      if (Object.values(records).some(({ name }) => name === grant.name)) {
        throw new GatewayError("key_exists", `There is a key "${grant.name}" already.`, { param: "name" });
      }
      return { ...records, [id]: record };
    });
    if (changed) this.#take(changed.value);
    return { record, key: `${KEY_PREFIX}${id}_${secret}` };
  }

  /** The key opens nothing any more. Gives it; throws `key_not_found` and `store_unavailable`. */
  async revoke(id: string): Promise<KeyRecord> {
    let revoked: KeyRecord | undefined;
    const changed = await this.#documents.change(PLACE, TTL_MS, (records = {}) => {
      revoked = Object.hasOwn(records, id) ? records[id] : undefined;
      if (!revoked) return undefined;
      return Object.fromEntries(Object.entries(records).filter(([other]) => other !== id));
    });
    if (!revoked || !changed) throw new GatewayError("key_not_found", "There is no key of this id.");
    this.#take(changed.value);
    return revoked;
  }

  close(): void {
    clearInterval(this.#poll);
  }

  #take(records: Records): void {
    // Ids come from requests: nothing of an ordinary object may be found under one.
    this.#records = Object.assign(Object.create(null) as Records, records);
    this.#readAt = performance.now();
  }

  #trusted(): Records {
    const isStale = this.#poll !== undefined && performance.now() - this.#readAt > TRUSTED_MS;
    return isStale ? {} : this.#records;
  }

  #isGood({ expires_at: end }: KeyRecord): boolean {
    return end === undefined || end > this.#deps.now();
  }

  #digest(secret: string): string {
    return hash("sha256", this.#deps.pepper + secret);
  }
}
