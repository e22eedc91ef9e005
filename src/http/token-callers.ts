import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { GatewayError } from "../errors.ts";
import type { Caller } from "./auth.ts";

/** Whose tokens are taken, and what their claims mean. */
export interface OidcSettings {
  /** The `iss` of the tokens. */
  readonly issuer: string;
  /** What must be in their `aud`. */
  readonly audience: string;
  /** Where the keys of the issuer are; found by OpenID Connect Discovery if it is left out. */
  readonly jwks_url?: string | undefined;
  /** Names of claims. A claim that is named here and missing in a token grants nothing. */
  readonly claims: {
    readonly name: string;
    readonly user?: string | undefined;
    readonly role?: string | undefined;
    readonly tools?: string | undefined;
    readonly max_level?: string | undefined;
  };
}

/** Names of callers with a token begin with it, so that none can take the name of a key. */
export const TOKEN_CALLER = "oidc:";

/** Signatures that only the issuer can make; with a shared secret the public key could be taken for it. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** How long a token that was found good is not looked at again, in milliseconds. */
const REMEMBER_MS = 5_000;
const REMEMBERED = 1_000;
const KNOWN_NAMES = 10_000;

/** How far the clocks of the issuer and the gateway may be apart, in seconds. */
const CLOCK_SKEW_S = 5;
const ISSUER_TIMEOUT_MS = 5_000;

/** A role in a claim, as in the scopes of OAuth: `toolweir:client`. */
const ROLE = /^toolweir:(client|approver|tools_admin|admin|metrics)$/;
const LEVELS = ["read", "write", "admin"] as const;

/** Three parts of base64url, of which the first begins as the JSON of a header does. */
const TOKEN = /^bearer +(eyJ[\w-]*\.[\w-]+\.[\w-]*)$/i;

/**
 * Callers who bring a signed token (JWT) of an OpenID Connect issuer.
 *
 * 1. Signature, issuer, audience, `exp` and `nbf` are checked; algorithms with a shared secret and unsigned tokens are refused.
 * 2. The keys of the issuer are fetched when a token first needs them, kept for ten minutes, and fetched again for a key that is
 *    not among them, at most every 30 seconds.
 * 3. A good token is remembered for five seconds and never after its end.
 */
export class TokenCallers {
  readonly #settings: OidcSettings;
  readonly #good = new LRUCache<string, Caller>({ max: REMEMBERED, ttl: REMEMBER_MS });
  readonly #named = new LRUCache<string, Caller>({ max: KNOWN_NAMES });
  #keys: Promise<JWTVerifyGetKey> | undefined;

  constructor(settings: OidcSettings) {
    this.#settings = settings;
  }

  /**
   * The caller behind an `Authorization` value, at once if the token is remembered; `undefined` if the value is no token.
   * Rejects with `invalid_api_key`, with `insufficient_scope` for a token that names no role or several, and with `not_ready` when
   * the keys of the issuer cannot be had.
   */
  callerOf(authorization: string | undefined): Caller | Promise<Caller> | undefined {
    const token = TOKEN.exec(authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    return this.#good.get(token) ?? this.#verify(token);
  }

  /** Whoever had this name with a token that this process saw and that is not over. */
  named(name: string): Caller | undefined {
    return this.#named.get(name);
  }

  async #verify(token: string): Promise<Caller> {
    const payload = await this.#check(token);
    const caller = callerFrom(payload, this.#settings.claims);
    const left = ((payload.exp ?? 0) + CLOCK_SKEW_S) * 1_000 - Date.now();
    this.#good.set(token, caller, { ttl: Math.max(1, Math.min(REMEMBER_MS, left)) });
    this.#named.set(caller.name, caller, { ttl: Math.max(1, left) });
    return caller;
  }

  async #check(token: string): Promise<JWTPayload> {
    const { issuer, audience } = this.#settings;
    try {
      const keys = await this.#issuerKeys();
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_S,
        requiredClaims: ["exp"],
      });
      return payload;
    } catch (error) {
      if (!isFaultOfToken(error)) throw issuerSilent();
      throw new GatewayError("invalid_api_key", "The API key is not valid.");
    }
  }

  /** Found once; a failure is not kept. */
  #issuerKeys(): Promise<JWTVerifyGetKey> {
    this.#keys ??= findKeys(this.#settings).catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }
}

async function findKeys({ issuer, jwks_url }: OidcSettings): Promise<JWTVerifyGetKey> {
  const url = jwks_url ?? (await discover(issuer));
  return createRemoteJWKSet(new URL(url), { timeoutDuration: ISSUER_TIMEOUT_MS });
}

async function discover(issuer: string): Promise<string> {
  const answer = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {
    redirect: "error",
    signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS),
  });
  const found = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (!answer.ok || found.issuer !== issuer || typeof found.jwks_uri !== "string") {
    throw new TypeError("the issuer does not describe itself");
  }
  return found.jwks_uri;
}

/** Whether the token is wrong, and not the way to the keys of its issuer. */
function isFaultOfToken(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  // Answers of the issuer that are no set of keys have the general code.
  const isIssuer = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
  return !isIssuer && error.code !== "ERR_JOSE_GENERIC";
}

const issuerSilent = () =>
  new GatewayError("not_ready", "The keys of the token's issuer cannot be had.", {
    headers: { "retry-after": "1" },
  });

function callerFrom(payload: JWTPayload, claims: OidcSettings["claims"]): Caller {
  const name = payload[claims.name];
  const user = claims.user === undefined ? undefined : payload[claims.user];
  if (!isName(name) || (claims.user !== undefined && !isName(user))) {
    throw new GatewayError("invalid_api_key", "The API key is not valid.");
  }
  const kind = claims.role === undefined ? "client" : roleIn(payload[claims.role]);
  const level = claims.max_level === undefined ? "write" : payload[claims.max_level];
  return {
    name: TOKEN_CALLER + name,
    kind,
    maxLevel: LEVELS.find((one) => one === level) ?? "read",
    tools: claims.tools === undefined ? ["*"] : wordsOf(payload[claims.tools]),
    mayApprove: kind === "approver" || kind === "admin",
    credential: undefined,
    ...(isName(user) && { user }),
  };
}

const isName = (value: unknown): value is string => typeof value === "string" && /^[!-~]{1,255}$/.test(value);

/** A list, or words with blanks between them as in `scope`. */
function wordsOf(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter((word) => word !== "");
  return Array.isArray(value) ? value.filter((word) => typeof word === "string") : [];
}

function roleIn(value: unknown): Exclude<Caller["kind"], "open"> {
  const [role, ...others] = wordsOf(value).flatMap((word) => ROLE.exec(word)?.[1] ?? []);
  if (role === undefined || others.length > 0) {
    throw new GatewayError("insufficient_scope", "The token must have exactly one role of this gateway.");
  }
  return role as Exclude<Caller["kind"], "open">;
}
