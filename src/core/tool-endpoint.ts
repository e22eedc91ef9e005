import type { ErrorDetail } from "../errors.ts";
import type { JsonObject } from "./json/value.ts";

/** Says why a tool must not call this URL, or `undefined` if it may. */
export type AllowUrl = (url: URL) => string | undefined;

/** The parts of a tool's `http` member that are judged here. */
export interface EndpointTemplates {
  readonly url: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Framing and routing of the request, and what the gateway itself sends. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "idempotency-key",
  "keep-alive",
  "metadata",
  "metadata-flavor",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "traceparent",
  "tracestate",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const SECRET = /\$\{secret:([A-Z][A-Z0-9_]*)\}/g;
/** How a reference to a secret is written, for messages. */
export const SECRET_EXAMPLE = `\${secret:NAME}`;
const PLACEHOLDER = /\{([\p{L}\p{N}_$][\p{L}\p{M}\p{N}_$.-]*)\}/gu;

/** The names of the properties that a schema declares at its root. */
export function declaredProperties(parameters: JsonObject | undefined): ReadonlySet<string> {
  const properties = parameters?.["properties"];
  return new Set(properties !== null && typeof properties === "object" ? Object.keys(properties) : []);
}

/** The parameters that stand as `{param}` in a template, secrets left aside. */
export function placeholders(template: string): string[] {
  return [...template.replace(SECRET, "").matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
}

/** Every secret that a template refers to, by name. */
export function secretNames(template: string): string[] {
  return [...template.matchAll(SECRET)].map((match) => match[1] ?? "");
}

function checkTemplate(template: string, path: string, declared: ReadonlySet<string>): ErrorDetail[] {
  const refuse = (message: string): ErrorDetail => ({ reason: "template_not_allowed", path, message });
  if (/[{}]/.test(template.replace(PLACEHOLDER, ""))) {
    return [refuse(`"${path}" has braces that are no parameter; one is written as {name}.`)];
  }
  return placeholders(template)
    .filter((name) => !declared.has(name))
    .map((name) => refuse(`"${path}" uses {${name}}, which is not a property in "parameters".`));
}

function checkUrl(template: string, declared: ReadonlySet<string>, allowUrl: AllowUrl): ErrorDetail[] {
  const path = "http.url";
  const refuse = (message: string): ErrorDetail[] => [{ reason: "url_not_allowed", path, message }];
  // The URL parser would drop or rewrite these without a word.
  if (/[\p{Cc}\s\\]/u.test(template))
    return refuse("A tool URL has no spaces, control characters or backslashes.");
  const authority = /^https?:\/\/([^/?#]+)/i.exec(template)?.[1];
  if (authority === undefined) return refuse("A tool URL is absolute and begins with http:// or https://.");
  if (/[{}]/.test(authority)) {
    const message =
      "The host and port of a tool URL are fixed; {param} may stand in its path and query only.";
    return [{ reason: "template_not_allowed", path, message }];
  }
  if (authority.includes("@")) return refuse("A tool URL carries no user name or password; use a header.");
  if (template.includes("#")) return refuse("A tool URL has no fragment.");
  if (template.includes("${")) return refuse("References to secrets are allowed in header values only.");
  const faults = checkTemplate(template, path, declared);
  if (faults.length > 0) return faults;
  const sample = template.replace(PLACEHOLDER, "x");
  if (!URL.canParse(sample)) return refuse("This is not a valid URL.");
  const reason = allowUrl(new URL(sample));
  return reason === undefined ? [] : refuse(reason);
}

function checkQuery(query: EndpointTemplates["query"], declared: ReadonlySet<string>): ErrorDetail[] {
  return Object.entries(query).flatMap(([name, template]) => {
    const path = `http.query.${name}`;
    const message = "References to secrets are allowed in header values only.";
    if (template.includes("${")) return [{ reason: "secret_ref_not_allowed", path, message }];
    return checkTemplate(template, path, declared);
  });
}

/** Whether the gateway sets this header itself, or no tool may; the name is in lower case. */
export function isReservedHeader(name: string): boolean {
  return RESERVED_HEADERS.has(name) || name.startsWith("x-toolweir-");
}

function headerNameProblem(name: string): string | undefined {
  if (!HEADER_NAME.test(name)) return "This is not a valid header name.";
  const lower = name.toLowerCase();
  if (isReservedHeader(lower)) {
    return `A tool cannot set the header "${lower}".`;
  }
  return undefined;
}

function checkHeader(name: string, template: string, declared: ReadonlySet<string>): ErrorDetail[] {
  const path = `http.headers.${name}`;
  const problem =
    headerNameProblem(name) ??
    (HEADER_VALUE.test(template) ? undefined : "A header value is Latin-1 text without control characters.");
  if (problem !== undefined) return [{ reason: "header_not_allowed", path, message: problem }];
  const rest = template.replace(SECRET, "");
  if (rest.includes("${")) {
    const message = `A reference to a secret is written as ${SECRET_EXAMPLE}, with a name like WEATHER_KEY.`;
    return [{ reason: "secret_ref_not_allowed", path, message }];
  }
  return checkTemplate(rest, path, declared);
}

function checkHeaders(headers: EndpointTemplates["headers"], declared: ReadonlySet<string>): ErrorDetail[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, template]) => {
    const lower = name.toLowerCase();
    const path = `http.headers.${name}`;
    if (seen.has(lower))
      return [{ reason: "header_not_allowed", path, message: "This header stands twice." }];
    seen.add(lower);
    return checkHeader(name, template, declared);
  });
}

/**
 * Everything that is wrong with where a tool's calls go.
 *
 * 1. The URL is absolute http or https; scheme, host and port are constants; no user info, fragment, space or control character.
 * 2. Each `{param}` in URL, query and header values is a declared property; no other braces.
 * 3. Header names are tokens of RFC 9110, not those that frame the request or belong to the gateway; values cannot break a line.
 * 4. `${secret:NAME}` stands in header values only.
 * 5. `allowUrl` has the last word; it sees the URL with `x` in place of each parameter.
 */
export function checkEndpoint(
  http: EndpointTemplates,
  declared: ReadonlySet<string>,
  allowUrl: AllowUrl,
): ErrorDetail[] {
  return [
    ...checkUrl(http.url, declared, allowUrl),
    ...checkQuery(http.query, declared),
    ...checkHeaders(http.headers, declared),
  ];
}
