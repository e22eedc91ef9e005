import { group, section, text } from "./config-shapes.ts";

/** An issuer of tokens, and the names of the claims that say what their owner may do. */
export interface OidcConfig {
  issuer: string;
  audience: string;
  jwks_url?: string;
  claims: { name: string; user?: string; role?: string; tools?: string; max_level?: string };
}

const claim = text("the name of a claim");

/** `auth.oidc`. */
export const OIDC = group(
  {
    issuer: text("the https URL of an issuer, as tokens have it in iss"),
    audience: text("what tokens for this gateway have in aud"),
    jwks_url: text("the https URL of the issuer's keys"),
    claims: section({
      name: { ...claim, default: "sub" },
      user: claim,
      role: claim,
      tools: claim,
      max_level: claim,
    }),
  },
  ["issuer", "audience"],
);

interface AuthSettings<Key> {
  mode?: "keys" | "none";
  keys: readonly Key[];
  oidc?: OidcConfig;
}

interface Around {
  /** Only this machine can reach the gateway. */
  loopback: boolean;
  adminKey: string | undefined;
  fault(path: string, expected: string): void;
  /** Faults every value that was there before. */
  unique(values: readonly string[], list: string, member: string): void;
}

/**
 * Who may call. Names every setting that would let in somebody unknown, or make two callers one: off a loopback address there must
 * be an admin key, and client keys or an issuer unless `auth.mode` says `none`.
 */
export function readAuth<Key extends { name: string; key: string; rate?: unknown; budget?: unknown }>(
  settings: AuthSettings<Key>,
  around: Around,
) {
  const { oidc } = settings;
  const keys = settings.keys.map(({ rate: _, budget: __, ...key }) => key);
  const { loopback } = around;
  const mode = settings.mode ?? (loopback && keys.length === 0 && !oidc ? "none" : "keys");
  checkKeys(keys, around);
  if (oidc) checkIssuer(oidc, mode, around);
  checkDoors(mode === "keys" && keys.length === 0 && !oidc, around);
  return { mode, keys, ...(oidc && { oidc }) };
}

/** Names that stand for others than a key. */
const isTaken = (name: string): boolean =>
  name === "admin" || name === "anonymous" || name.startsWith("oidc:");

function checkKeys(
  keys: readonly { name: string; key: string }[],
  { adminKey, fault, unique }: Around,
): void {
  for (const member of ["name", "key"] as const) {
    unique(
      keys.map((key) => key[member]),
      "auth.keys",
      member,
    );
  }
  keys.forEach(({ name }, index) => {
    if (!isTaken(name)) return;
    fault(
      `auth.keys[${index}].name`,
      "another name than admin, anonymous and those that begin with oidc:, which stand for others",
    );
  });
  const admin = keys.findIndex(({ key }) => key === adminKey);
  if (admin >= 0) fault(`auth.keys[${admin}].key`, "another key than the admin key");
}

/** Keys that come over a wire that anybody can write to prove nothing. */
function checkIssuer({ issuer, jwks_url }: OidcConfig, mode: string, { fault }: Around): void {
  const urls = { issuer, ...(jwks_url !== undefined && { jwks_url }) };
  for (const [member, value] of Object.entries(urls)) {
    const url = URL.parse(value);
    const isLocal = url?.protocol === "http:" && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
    if (url?.protocol !== "https:" && !isLocal)
      fault(`auth.oidc.${member}`, "an https URL, or an http URL of this machine");
  }
  if (mode === "none") fault("auth.mode", "keys, because auth.oidc asks for tokens");
}

function checkDoors(keyless: boolean, { loopback, adminKey, fault }: Around): void {
  if (!loopback && adminKey === undefined) {
    fault("admin_key", "an admin key (TOOLWEIR_ADMIN_KEY), because the host is not a loopback address");
  }
  if (keyless && !(loopback && adminKey !== undefined)) {
    const why = loopback ? "auth.mode is keys" : "the host is not a loopback address";
    fault("auth.keys", `at least one client key, or auth.mode: none, because ${why}`);
  }
}
