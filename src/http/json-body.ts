import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The JSON body as it came, byte for byte; `undefined` where there was none. */
    rawBody: Buffer | undefined;
  }
}

const MAX_DEPTH = 64;
const MAX_KEYS = 10_000;
/** Bytes of a text that cannot nest so deep that it matters to `JSON.parse`. */
const SMALL = 16 * 1024;

const JSON_TYPE = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i;

/**
 * Makes `app` read `application/json` bodies and no others.
 *
 * 1. The media type must match exactly, with `charset=utf-8` or no parameter, and without a content encoding; else 415.
 * 2. `request.body` is the parsed value and `request.rawBody` the bytes it came from.
 * 3. A body is refused with 400 when it is empty, not UTF-8, not JSON (RFC 8259), nested deeper than 64 levels, has more than
 *    10,000 keys in all, holds a number that is no finite double, or a `__proto__` or `constructor.prototype` key.
 * 4. Refusals never quote the body. No input takes more than linear time, and depth is bounded before `JSON.parse` sees it.
 */
export function acceptJson(app: FastifyInstance): void {
  app.decorateRequest("rawBody", undefined);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    checkEncoding(request);
    // Some clients send a content type with every DELETE.
    if (body.length === 0 && request.method === "DELETE") return done(null, undefined);
    request.rawBody = body;
    done(null, parseJson(body));
  });
}

function checkEncoding({ headers }: FastifyRequest): void {
  const type = headers["content-type"];
  if (type !== "application/json" && !JSON_TYPE.test(type ?? "")) {
    throw new GatewayError("unsupported_media_type", "Send the body as application/json in UTF-8.");
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new GatewayError("unsupported_media_type", "Compressed request bodies are not accepted.");
  }
}

/** One JSON text under the rules of `acceptJson`. Throws `invalid_json`, `json_too_deep`, `too_many_keys` or `invalid_value`. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new GatewayError("invalid_json", "The request body is empty.");
  if (!isUtf8(bytes)) throw new GatewayError("invalid_json", "The request body is not valid UTF-8.");
  if (bytes.length > SMALL && tooDeep(bytes)) throw deep();
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    const at = /at position (\d+)/.exec(String(error))?.[1];
    const where = at === undefined ? "" : ` (at character ${at})`;
    throw new GatewayError("invalid_json", `The request body is not valid JSON${where}.`);
  }
  inspect(value, 0, { keys: 0 });
  return value;
}

const deep = () => new GatewayError("json_too_deep", "The JSON is nested deeper than 64 levels.");

/** The body as an object. Throws `invalid_type` for every other value and `missing_required_parameter` for none. */
export function requireObject(body: unknown): Record<string, unknown> {
  if (body === undefined) throw new GatewayError("missing_required_parameter", "The request has no body.");
  if (typeof body === "object" && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new GatewayError("invalid_type", "The request body must be a JSON object.");
}

// Of the brackets: 0x5b [, 0x5d ], 0x7b {, 0x7d }.
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Counts brackets outside of strings. `JSON.parse` takes millions of levels, at half a second and a lot of memory the million,
 * so on a large text this has to come first; on a small one the walk afterwards is enough, and saves half the time.
 */
function tooDeep(bytes: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}

/** Position of the quote that closes the string opened at `open`, or of the end of the text. */
function endOfString(bytes: Buffer, open: number): number {
  for (let at = open + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return bytes.length;
}

/** Walks a value, at most one level deeper than allowed. `depth` counts the containers around it. */
function inspect(value: unknown, depth: number, count: { keys: number }): void {
  if (typeof value === "number") {
    if (Number.isFinite(value)) return;
    throw new GatewayError("invalid_value", "A number in the request body is out of range.");
  }
  if (typeof value !== "object" || value === null) return;
  if (depth >= MAX_DEPTH) throw deep();
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depth + 1, count);
    return;
  }
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    if (++count.keys > MAX_KEYS) {
      throw new GatewayError("too_many_keys", "The JSON has more than 10,000 keys.");
    }
    const member = object[key];
    checkKey(key, member);
    inspect(member, depth + 1, count);
  }
}

/** Copying such a member into another object would change what that object, or every object, inherits. */
function checkKey(key: string, member: unknown): void {
  if (key === "__proto__" || (key === "constructor" && hasPrototype(member))) {
    throw new GatewayError("invalid_value", `The key "${key}" is not accepted.`);
  }
}

const hasPrototype = (value: unknown) =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
