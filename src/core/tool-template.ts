import { spellingOf, withSpellings } from "./json/spelling.ts";
import { stringifyJson } from "./json/stringify.ts";
import type { JsonObject, JsonValue } from "./json/value.ts";
import type { HttpMethod, ToolDefinition } from "./tool.ts";

/**
 * `missing`: an argument the request cannot do without. `segment`: it cannot be one segment of a path.
 * `header`: it cannot stand in a header. `secret` and `definition`: the model cannot help it.
 */
export type TemplateProblem = "missing" | "segment" | "header" | "secret" | "definition";

/** A request that cannot be built. `message` is for the model and never holds a secret. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  readonly problem: TemplateProblem;
  /** The argument or the secret at fault; `""` where the definition is. */
  readonly parameter: string;

  constructor(problem: TemplateProblem, parameter: string, message: string) {
    super(message);
    this.problem = problem;
    this.parameter = parameter;
  }
}

export interface RenderedRequest {
  method: HttpMethod;
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: string;
}

/** `${secret:NAME}` (first group) or `{param}` (second group). */
const PLACEHOLDER = /\$\{secret:(\w+)\}|\{([^{}]+)\}/gu;
const LITERAL_OR_PLACEHOLDER = /[^{]+|\{[^{}]+\}|\{/gu;
const ONLY_PLACEHOLDER = /^([^{}]*=)\{([^{}]+)\}$/u;
const URL_PARTS = /^(https?:\/\/[^/?#\\]+)([^?#]*)(?:\?([^#]*))?/iu;
/** What the URL standard takes for no segment, `.` or `..`. */
const NO_SEGMENT = /^(?:\.|%2e){0,2}$/iu;
const NOT_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/u;
const MAX_HEADER_CHARACTERS = 4096;

/**
 * Builds the HTTP request of one call.
 *
 * 1. Arguments never change the structure: origin, number of path segments, query keys and header names are the template's.
 * 2. An argument in a path is exactly one segment; `""`, `.` and `..` are refused.
 * 3. A query entry or header whose arguments are all absent (or null) is left out.
 * 4. `${secret:NAME}` counts in header values of the definition only, never in an argument.
 * 5. Arguments used in URL, query or headers are not repeated. The rest is the body, number by number as it was; `GET` and
 *    `DELETE` have no body, there the rest becomes query entries.
 *
 * Throws `TemplateError`.
 */
export function renderToolRequest(
  tool: ToolDefinition,
  args: JsonObject,
  secret: (name: string) => string | undefined,
): RenderedRequest {
  const { http } = tool;
  const [, origin, path, ownQuery] = URL_PARTS.exec(http.url) ?? [];
  if (origin === undefined || namesIn(origin).length > 0) {
    throw new TemplateError(
      "definition",
      "",
      "The URL of this tool needs a scheme and a host without parameters.",
    );
  }
  const entries = [
    ...(ownQuery ? ownQuery.split("&") : []),
    ...Object.entries(http.query).map(([key, value]) => `${encode(key)}=${encodeLiterals(value)}`),
  ];
  const used = new Set([http.url, ...entries, ...Object.values(http.headers)].flatMap(namesIn));
  const rest = withSpellings(
    Object.fromEntries(Object.entries(args).filter(([name]) => !used.has(name))),
    args,
  );
  const inQuery = http.method === "GET" || http.method === "DELETE";

  const query = entries.flatMap((entry) => renderEntry(entry, args));
  if (inQuery && http.body !== "none") query.push(...formPairs(rest));
  const url = `${origin}${renderPath(path ?? "", args)}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  const headers = renderHeaders(http.headers, args, secret);
  if (inQuery || http.body === "none") return { method: http.method, url, headers };

  const [type, body] =
    http.body === "json"
      ? ["application/json", stringifyJson(rest)]
      : ["application/x-www-form-urlencoded", formPairs(rest).join("&")];
  return { method: http.method, url, headers: { "content-type": type, ...headers }, body };
}

function namesIn(template: string): string[] {
  // Most parts of a request are fixed text, and each is looked at for every call.
  if (!template.includes("{")) return [];
  return Array.from(template.matchAll(PLACEHOLDER), (match) => match[2]).filter((name) => name !== undefined);
}

/** Null counts as absent: there is no way to write it in a URL. */
function argument(args: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? (args[name] ?? undefined) : undefined;
}

function missing(name: string): TemplateError {
  return new TemplateError("missing", name, `Parameter "${name}" is missing.`);
}

/** `undefined` where every argument of the template is absent; throws where only some are. */
function fill(
  template: string,
  args: JsonObject,
  spell: (value: JsonValue, name: string) => string,
  secret: (name: string) => string = noSecret,
): string | undefined {
  const names = namesIn(template);
  const absent = names.filter((name) => argument(args, name) === undefined);
  if (absent[0] !== undefined) {
    if (absent.length === names.length) return undefined;
    throw missing(absent[0]);
  }
  // One pass over the template: what a secret or an argument holds is never expanded again.
  return template.replace(PLACEHOLDER, (_, secretName?: string, name = "") =>
    secretName === undefined ? spell(written(args, name), name) : secret(secretName),
  );
}

function noSecret(name: string): never {
  throw new TemplateError("secret", name, `The secret "${name}" of this tool stands outside of its headers.`);
}

function renderPath(path: string, args: JsonObject): string {
  const segments = path.split("/").map((template) => {
    const [name] = namesIn(template);
    const segment = fill(template, args, spellSegment);
    if (name === undefined) return segment;
    if (segment === undefined) throw missing(name);
    if (NO_SEGMENT.test(segment)) throw notASegment(name);
    return segment;
  });
  return segments.join("/");
}

function spellSegment(value: JsonValue, name: string): string {
  const segment = encode(textOf(value));
  if (NO_SEGMENT.test(segment)) throw notASegment(name);
  return segment;
}

function notASegment(name: string): TemplateError {
  const message = `Parameter "${name}" is part of an address and must not be empty, "." or "..".`;
  return new TemplateError("segment", name, message);
}

/** A list that is the whole value of an entry repeats the entry. */
function renderEntry(entry: string, args: JsonObject): string[] {
  const [, key, name] = ONLY_PLACEHOLDER.exec(entry) ?? [];
  if (key !== undefined && name !== undefined) return pairs(key, written(args, name));
  const filled = fill(entry, args, (value) => encode(textOf(value)));
  return filled === undefined ? [] : [filled];
}

function formPairs(fields: JsonObject): string[] {
  return Object.keys(fields).flatMap((name) => pairs(`${encode(name)}=`, written(fields, name)));
}

function pairs(key: string, value: JsonValue): string[] {
  if (value === null) return [];
  const values = Array.isArray(value) ? value.map((_, at) => written(value, at)) : [value];
  return values.map((item) => key + encode(textOf(item)));
}

function renderHeaders(
  templates: Readonly<Record<string, string>>,
  args: JsonObject,
  secret: (name: string) => string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(templates)) {
    const value = renderHeader(name, template, args, secret);
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}

function renderHeader(
  header: string,
  template: string,
  args: JsonObject,
  secret: (name: string) => string | undefined,
): string | undefined {
  const value = fill(template, args, spellHeader, (name) => spellSecret(name, secret));
  if (value === undefined || isHeaderValue(value)) return value;
  throw new TemplateError(
    "definition",
    "",
    `Header "${header}" of this tool cannot be sent as it is defined.`,
  );
}

function isHeaderValue(text: string): boolean {
  return text.length <= MAX_HEADER_CHARACTERS && !NOT_IN_HEADER.test(text);
}

function spellHeader(value: JsonValue, name: string): string {
  const text = textOf(value);
  if (isHeaderValue(text)) return text;
  const message = `Parameter "${name}" is sent in a header: at most 4096 characters of Latin-1, no line breaks.`;
  throw new TemplateError("header", name, message);
}

function spellSecret(name: string, secret: (name: string) => string | undefined): string {
  const value = secret(name);
  if (value === undefined)
    throw new TemplateError("secret", name, `The secret "${name}" of this tool is not set.`);
  if (isHeaderValue(value)) return value;
  throw new TemplateError("secret", name, `The secret "${name}" of this tool cannot stand in a header.`);
}

/** What stands in arguments or a list; a number that would be spelt as another one is the text that it has in JSON. */
function written(container: JsonObject | JsonValue[], key: string | number): JsonValue {
  const value = Object.hasOwn(container, key) ? (container as JsonObject)[key] : undefined;
  return spellingOf(container, key) ?? value ?? null;
}

function textOf(value: JsonValue): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? stringifyJson(value) : String(value);
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function encodeLiterals(template: string): string {
  return template.replace(LITERAL_OR_PLACEHOLDER, (part) => (/^\{./u.test(part) ? part : encode(part)));
}
