import { hash, timingSafeEqual } from "node:crypto";
import type { ToolLevel } from "../core/tool.ts";
import { GatewayError } from "../errors.ts";

/** Who may call a route: anyone, whoever may use the client API, or whoever may manage the gateway. */
export type Access = "public" | "client" | "admin";

/** Who sent a request, and what they may do. */
export interface Caller {
  /** Name of the client key; `admin` or `anonymous` for the others. */
  readonly name: string;
  readonly kind: "open" | "client" | "admin";
  readonly maxLevel: ToolLevel;
  /** Globs over the names of the tools this caller may use. */
  readonly tools: readonly string[];
  /** May decide about calls that wait for a person. */
  readonly mayApprove: boolean;
  /** The `Authorization` value to hand to an upstream without a key of its own; never a key of this gateway. */
  readonly credential: string | undefined;
}

export interface ClientKey {
  name: string;
  key: string;
  max_level: ToolLevel;
  tools: readonly string[];
  approve?: boolean;
}

export interface AuthSettings {
  /** Key of the management API, valid on the client API too. Without it anyone may manage. */
  adminKey: string | undefined;
  mode: "keys" | "none";
  keys: readonly ClientKey[];
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
 * 2. The client API is open in mode `none`, and where there is neither an admin key nor a client key to ask for.
 * 3. The management API is open where there is no admin key.
 * 4. A key of the gateway is never part of `credential`.
 */
export class Authenticator {
  readonly #keys: readonly { digest: Buffer; caller: Caller }[];
  readonly #known = new Map<string, Caller>();
  readonly #managed: boolean;
  readonly #clientOpen: boolean;

  constructor({ adminKey, mode, keys }: AuthSettings) {
    const clients = keys.map((key) => ({ digest: digest(key.key), caller: clientOf(key) }));
    this.#managed = adminKey !== undefined;
    this.#clientOpen = mode === "none" || (!this.#managed && keys.length === 0);
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

  /**
   * The caller behind an `Authorization` value, for a route of this access.
   * Throws `missing_api_key`, `invalid_api_key` or, for a client key on the management API, `insufficient_scope`.
   */
  admit(access: "client" | "admin", authorization: string | undefined): Caller {
    const known = this.#identify(authorization);
    if (known) {
      if (access === "client" || !this.#managed || known.kind === "admin") return known;
      throw new GatewayError("insufficient_scope", "This key may not manage the gateway.");
    }
    if (access === "client" ? this.#clientOpen : !this.#managed) return this.#open(authorization);
    if (bearerToken(authorization) === undefined) {
      throw new GatewayError("missing_api_key", "Send an API key as Authorization: Bearer KEY.");
    }
    throw new GatewayError("invalid_api_key", "The API key is not valid.");
  }

  /** Whoever has this name now: the one behind a key, or those who need none. */
  named(name: string): Caller | undefined {
    if (name === ANONYMOUS.name) return this.#clientOpen ? this.#open(undefined) : undefined;
    return this.#keys.findLast(({ caller }) => caller.name === name)?.caller;
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

function clientOf({ name, max_level, tools, approve }: ClientKey): Caller {
  return {
    name,
    kind: "client",
    maxLevel: max_level,
    tools,
    mayApprove: approve === true,
    credential: undefined,
  };
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S.*)$/i.exec(authorization ?? "")?.[1];
}
