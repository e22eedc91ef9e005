import { hash, timingSafeEqual } from "node:crypto";
import type { ToolLevel } from "../core/tool.ts";
import { KEY_PREFIX, type KeyBook, type Role } from "../engine/keys/key-book.ts";
import { GatewayError } from "../errors.ts";
import { TOKEN_CALLER, type TokenCallers } from "./token-callers.ts";

/**
 * Who may call a route: anyone (`public`), whoever has any key (`any`), uses the client API, decides about calls or asked for them, keeps the
 * tools, reads the metrics, or manages the gateway.
 */
export type Access = "public" | "any" | "client" | "approvals" | "tools" | "metrics" | "admin";

/** The roles that each of them opens. */
const ROLES: Readonly<Record<Exclude<Access, "public">, readonly Role[]>> = {
  any: ["client", "approver", "tools_admin", "metrics", "admin"],
  client: ["client", "admin"],
  approvals: ["client", "approver", "admin"],
  tools: ["tools_admin", "admin"],
  metrics: ["client", "metrics", "admin"],
  admin: ["admin"],
};

/** Who sent a request, and what they may do. */
export interface Caller {
  /** Name of the client key; `admin` or `anonymous` for the others. */
  readonly name: string;
  readonly kind: "open" | Role;
  readonly maxLevel: ToolLevel;
  /** Globs over the names of the tools this caller may use. */
  readonly tools: readonly string[];
  /** May decide about calls that wait for a person. */
  readonly mayApprove: boolean;
  /** The `Authorization` value to hand to an upstream without a key of its own; never a key of this gateway. */
  readonly credential: string | undefined;
  /** The person the request is for, where a token says it; it counts in place of the `user` of the body. */
  readonly user?: string;
}

export interface ClientKey {
  name: string;
  key: string;
  max_level: ToolLevel;
  tools: readonly string[];
  approve?: boolean;
  role?: Role;
}

/** Keys that can be made and revoked while the gateway runs. */
export type StoredKeys = Pick<KeyBook, "check" | "named">;

export interface AuthSettings {
  /** Key of the management API, valid on the client API too. Without it anyone may manage. */
  adminKey: string | undefined;
  mode: "keys" | "none";
  keys: readonly ClientKey[];
  stored?: StoredKeys;
  /** Callers with tokens of an issuer, where there is one. */
  tokens?: TokenCallers | undefined;
}

/** More spellings of valid keys than a client would use; above it the memory starts afresh. */
const REMEMBERED = 1_000;

const digest = (text: string) => hash("sha256", text, "buffer");

/** Callers of public routes, who are not asked for a key. */
export const ANONYMOUS: Caller = {
  name: "anonymous",
  kind: "open",
  maxLevel: "read",
  tools: [],
  mayApprove: false,
  credential: undefined,
};

/**
 * Decides who a request comes from.
 *
 * 1. Keys are compared as SHA-256 digests, with all of them, in constant time; unknown, expired and revoked ones look the same.
 * 2. A key opens what its role says; the admin key opens everything.
 * 3. The client API is open in mode `none`, and where there is neither an admin key nor a client key to ask for.
 * 4. The management API is open where there is no admin key.
 * 5. A key of the gateway is never part of `credential`.
 */
export class Authenticator {
  readonly #keys: readonly { digest: Buffer; caller: Caller }[];
  readonly #known = new Map<string, Caller>();
  readonly #stored: StoredKeys | undefined;
  readonly #tokens: TokenCallers | undefined;
  readonly #managed: boolean;
  readonly #clientOpen: boolean;

  constructor({ adminKey, mode, keys, stored, tokens }: AuthSettings) {
    this.#tokens = tokens;
    this.#stored = stored;
    const clients = keys.map((key) => ({ digest: digest(key.key), caller: clientOf(key) }));
    this.#managed = adminKey !== undefined;
    this.#clientOpen = mode === "none" || (!this.#managed && keys.length === 0 && !tokens);
    const admin: Caller = {
      name: "admin",
      kind: "admin",
      maxLevel: "admin",
      tools: ["*"],
      mayApprove: true,
      credential: undefined,
    };
    // The admin key is last, so that it wins over a client key that was set to the same value.
    this.#keys = adminKey === undefined ? clients : [...clients, { digest: digest(adminKey), caller: admin }];
  }

  /** The caller behind a token, as `TokenCallers` tells it; `undefined` for every other `Authorization` value. */
  tokenCaller(authorization: string | undefined): Caller | Promise<Caller> | undefined {
    return this.#tokens?.callerOf(authorization);
  }

  /**
   * The caller behind an `Authorization` value (`bearer` if it was a token), for a route of this access.
   * Throws `missing_api_key`, `invalid_api_key` or, for a key whose role does not open it, `insufficient_scope`.
   */
  admit(access: Exclude<Access, "public">, authorization: string | undefined, bearer?: Caller): Caller {
    const known = bearer ?? this.#identify(authorization);
    // Where anyone may manage the gateway, so may everyone with a key.
    const isOpen = access === "admin" || access === "tools" ? !this.#managed : this.#clientOpen;
    if (known) {
      const isMeant = known.kind !== "open" && ROLES[access].includes(known.kind);
      if (isMeant || (isOpen && !this.#managed)) return known;
      const what = access === "admin" || access === "tools" ? "manage the gateway" : "do this";
      throw new GatewayError("insufficient_scope", `This key may not ${what}.`);
    }
    // A key of the gateway that counts no more must not be taken for one of the upstream.
    if (isOpen && !isStoredKey(authorization)) return this.#open(authorization);
    if (bearerToken(authorization) === undefined) {
      throw new GatewayError("missing_api_key", "Send an API key as Authorization: Bearer KEY.");
    }
    throw new GatewayError("invalid_api_key", "The API key is not valid.");
  }

  /** Whoever has this name now: the one behind a key, or those who need none. */
  named(name: string): Caller | undefined {
    if (name === ANONYMOUS.name) return this.#clientOpen ? this.#open(undefined) : undefined;
    if (name.startsWith(TOKEN_CALLER)) return this.#tokens?.named(name);
    const stored = this.#stored?.named(name);
    return this.#keys.findLast(({ caller }) => caller.name === name)?.caller ?? (stored && clientOf(stored));
  }

  #open(authorization: string | undefined): Caller {
    // Who may register any tool gains nothing by calling one; who may not is held to what needs no elevation.
    const maxLevel = this.#managed ? "write" : "admin";
    return {
      name: "anonymous",
      kind: "open",
      maxLevel,
      tools: ["*"],
      mayApprove: !this.#managed,
      credential: authorization || undefined,
    };
  }

  #identify(authorization: string | undefined): Caller | undefined {
    if (authorization === undefined) return undefined;
    const remembered = this.#known.get(authorization);
    if (remembered) return remembered;
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    const stored = this.#stored?.check(token);
    // Not remembered: it may be revoked.
    if (stored) return clientOf(stored);
    const given = digest(token);
    let found: Caller | undefined;
    for (const entry of this.#keys) if (timingSafeEqual(entry.digest, given)) found = entry.caller;
    if (found) this.#remember(authorization, found);
    return found;
  }

  #remember(authorization: string, caller: Caller): void {
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(authorization, caller);
  }
}

function clientOf({ name, max_level, tools, approve, role = "client" }: Omit<ClientKey, "key">): Caller {
  return {
    name,
    kind: role,
    maxLevel: max_level,
    tools,
    mayApprove: role === "approver" || role === "admin" || (role === "client" && approve === true),
    credential: undefined,
  };
}

/** Whether somebody means a key that was made over the API, whatever became of it. */
const isStoredKey = (authorization: string | undefined): boolean =>
  bearerToken(authorization)?.startsWith(KEY_PREFIX) === true;

function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S.*)$/i.exec(authorization ?? "")?.[1];
}
