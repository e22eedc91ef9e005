import dns from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";

export interface AddressGuardOptions {
  /** `open` is for development: everything but metadata services. `guarded` lets out https to public addresses. */
  network: "open" | "guarded";
  /** Exceptions for `guarded`: `host`, `host:port` or `scheme://host:port`. Throws `TypeError` for anything else. */
  allowHosts: readonly string[];
  /** How names become addresses; for tests. */
  lookup?: LookupFunction;
}

/**
 * Where tool requests may go.
 *
 * 1. A host is judged by the address it stands for, whatever its spelling: decimal, octal, mapped, with a trailing dot.
 * 2. Every address that a name resolves to must pass, on every connection, and the address connected to is compared again.
 * 3. `allowHosts` opens loopback, private and reserved addresses, http and other ports for the hosts it names.
 * 4. Metadata services are closed in both modes; link-local, unspecified, multicast and IPv4-embedding addresses in `guarded`
 *    whatever `allowHosts` says.
 */
export interface AddressGuard {
  /** Why this URL is refused already now, as a sentence for people; `undefined` when it may be registered. */
  allowUrl(url: string | URL): string | undefined;
  /** For undici's `connect` option; it fails with `ConnectError`. */
  connector(): buildConnector.connector;
}

/** No connection came about, so nothing was sent. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  /** The network policy forbids the address: another attempt is pointless. */
  readonly refused: boolean;

  constructor(message: string, refused: boolean, options?: ErrorOptions) {
    super(message, options);
    this.refused = refused;
  }
}

type AddressClass = "public" | "internal" | "never" | "metadata";
type Refuses = (address: AddressClass) => boolean;

const CONNECT_TIMEOUT_MS = 5000;
const DEFAULT_PORT: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };
const GUARDED_PORTS = new Set(["443", "8443"]);
const NEVER_RANGES = new Set([
  "unspecified",
  "broadcast",
  "multicast",
  "linkLocal",
  "rfc6145",
  "rfc6052",
  "6to4",
  "teredo",
]);
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR("::/96");
/** Link-local ones, then those of AWS, Google, Alibaba, Oracle and Azure that lie elsewhere. */
const METADATA = [
  "169.254.0.0/16",
  "fd00:ec2::254/128",
  "fd00:ec2::23/128",
  "fd20:ce::254/128",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "168.63.129.16/32",
].map((range) => ipaddr.parseCIDR(range));
const METADATA_NAMES = new Set([
  "metadata",
  "metadata.google.internal",
  "instance-data",
  "metadata.azure.internal",
]);
/** A single label, or a suffix that public DNS does not hold. */
const INTERNAL_NAME =
  /^[^.]+$|\.(?:localhost|local|internal|intranet|private|corp|home|lan|svc|consul|home\.arpa|onion|test|invalid|alt)$/u;

const REFUSES = {
  open: (address) => address === "metadata",
  guarded: (address) => address !== "public",
  listed: (address) => address === "metadata" || address === "never",
} as const satisfies Record<string, Refuses>;
type Rule = keyof typeof REFUSES;

const MAX_VERDICTS = 1_000;

/** See {@link AddressGuard}. */
export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const listed = new Set(options.allowHosts.flatMap(originsOf));
  const ruleFor = (protocol: string, host: string, port: string): Rule => {
    if (options.network === "open") return "open";
    return [`${protocol}//${host}:${port}`, `${host}:${port}`, host].some((entry) => listed.has(entry))
      ? "listed"
      : "guarded";
  };
  // The verdict depends on scheme, host and port alone, and a gateway calls few of them, each for ever again.
  const verdicts = new Map<string, string | undefined>();
  const ofOrigin = (url: URL): string | undefined => {
    const origin = `${url.protocol}//${url.host}`;
    if (verdicts.has(origin)) return verdicts.get(origin);
    if (verdicts.size === MAX_VERDICTS) verdicts.clear();
    const refusal = refusalOf(url, ruleFor);
    verdicts.set(origin, refusal);
    return refusal;
  };
  return {
    allowUrl: (url) =>
      typeof url === "string" || url.username || url.password ? refusalOf(url, ruleFor) : ofOrigin(url),
    connector: () => createConnector(options.lookup ?? (dns.lookup as LookupFunction), ruleFor),
  };
}

type RuleFor = (protocol: string, host: string, port: string) => Rule;

function refusalOf(input: string | URL, ruleFor: RuleFor): string | undefined {
  // The URL parser drops or turns these, so that readers of the text and the parser see different hosts.
  if (typeof input === "string" && /[\p{Cc}\s\\]/u.test(input)) {
    return "The URL holds a space, a control character or a backslash.";
  }
  const url = typeof input === "string" ? URL.parse(input) : input;
  if (!url) return "The URL is not valid.";
  const defaultPort = DEFAULT_PORT[url.protocol];
  if (defaultPort === undefined) return "Only http and https URLs can be called.";
  if (url.username || url.password) return "The URL holds a user name or a password.";

  const host = canonicalHost(url.hostname);
  const port = url.port || defaultPort;
  const rule = ruleFor(url.protocol, host, port);
  const forbidden = refusedHost(host, rule);
  if (forbidden) return withAdvice(forbidden, url.protocol, host, port);
  if (rule !== "guarded") return undefined;
  if (url.protocol === "http:") return withAdvice("Only https is allowed.", url.protocol, host, port);
  if (!GUARDED_PORTS.has(port)) return withAdvice(`Port ${port} is not allowed.`, url.protocol, host, port);
  return undefined;
}

function refusedHost(host: string, rule: Rule): string | undefined {
  const refuses: Refuses = REFUSES[rule];
  const address = classifyHost(host);
  return refuses(address) ? `The host "${host}" is ${DESCRIPTION[address]}.` : undefined;
}

const DESCRIPTION: Readonly<Record<AddressClass, string>> = {
  public: "public",
  internal: "not public (private, loopback or reserved)",
  never: "an address that no tool may use",
  metadata: "a metadata service or link-local",
};

function withAdvice(reason: string, protocol: string, host: string, port: string): string {
  const address = classifyHost(host);
  if (address === "metadata" || address === "never") return reason;
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return `${reason} To allow it, add "${protocol}//${name}:${port}" to tools.allow_hosts.`;
}

/** Lower case without brackets and trailing dot; an address in its shortest form, mapped IPv4 as IPv4. */
function canonicalHost(hostname: string): string {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return isIP(host) === 0 ? host.toLowerCase() : ipaddr.process(host).toString();
}

function classifyHost(host: string): AddressClass {
  if (isIP(host) !== 0) return classifyAddress(host);
  if (METADATA_NAMES.has(host)) return "metadata";
  return INTERNAL_NAME.test(host) ? "internal" : "public";
}

function classifyAddress(text: string): AddressClass {
  const address = ipaddr.process(text.replace(/%.*$/, ""));
  if (METADATA.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits)))
    return "metadata";
  const range = address.range();
  if (range === "unicast" && !isIpv4Compatible(address)) return "public";
  return NEVER_RANGES.has(range) || range === "unicast" ? "never" : "internal";
}

function isIpv4Compatible(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === "ipv6" && address.match(IPV4_COMPATIBLE[0], IPV4_COMPATIBLE[1]);
}

/** The spellings under which an entry of `allowHosts` is found. */
function originsOf(entry: string): string[] {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?([^/?#@\\\s]+)\/?$/iu.exec(entry) ?? [];
  const authority = isIP(rest) === 6 ? `[${rest}]` : rest;
  const url = URL.parse(`http://${authority}`);
  if (!url) throw new TypeError(`allow_hosts: "${entry}" is not host, host:port or scheme://host:port`);
  const host = canonicalHost(url.hostname);
  const port = /:(\d+)$/.exec(authority)?.[1];
  if (scheme === undefined) return [port === undefined ? host : `${host}:${Number(port)}`];
  const protocol = `${scheme.toLowerCase()}:`;
  return [`${protocol}//${host}:${Number(port ?? DEFAULT_PORT[protocol])}`];
}

function createConnector(lookup: LookupFunction, ruleFor: RuleFor): buildConnector.connector {
  const build = (rule: Rule) =>
    buildConnector({ allowH2: false, timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup(lookup, rule) });
  const connectors = { open: build("open"), guarded: build("guarded"), listed: build("listed") };
  return (target, callback) => {
    const host = canonicalHost(target.hostname);
    const rule = ruleFor(target.protocol, host, target.port || DEFAULT_PORT[target.protocol] || "");
    // A lookup hook never sees literals, so the host itself is judged as well.
    const refusal = refusedHost(host, rule);
    if (refusal) {
      process.nextTick(callback, new ConnectError(refusal, true), null);
      return;
    }
    // undici cancels an attempt through the returned socket, which its types do not show.
    return connectors[rule](target, (error, socket) => {
      if (error) callback(asConnectError(error), null);
      else checkPeer(socket, rule, callback);
    });
  };
}

function checkPeer(socket: Socket, rule: Rule, callback: buildConnector.Callback): void {
  const refusal = socket.remoteAddress && refusedHost(canonicalHost(socket.remoteAddress), rule);
  if (!refusal) {
    callback(null, socket);
    return;
  }
  socket.destroy();
  callback(new ConnectError(refusal, true), null);
}

function asConnectError(error: Error): ConnectError {
  if (error instanceof ConnectError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "no connection";
  return new ConnectError(code, false, { cause: error });
}

function guardedLookup(lookup: LookupFunction, rule: Rule): LookupFunction {
  const refuses: Refuses = REFUSES[rule];
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? found : [];
      const refused = addresses.find(({ address }) => refuses(classifyAddress(address)));
      const fault = error ?? (refused && refusedAnswer(hostname, refused.address));
      const [first] = addresses;
      if (fault || !first) callback(fault ?? new ConnectError("ENOTFOUND", false), []);
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function refusedAnswer(hostname: string, address: string): ConnectError {
  const kind = DESCRIPTION[classifyAddress(address)];
  return new ConnectError(`The host "${hostname}" resolves to an address that is ${kind}.`, true);
}
