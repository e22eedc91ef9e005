import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { newId } from "../engine/new-id.ts";
import { type ErrorCode, GatewayError } from "../errors.ts";

/** Longest request target, in characters. Node refuses non-ASCII ones, so these are bytes. */
const MAX_TARGET = 8 * 1024;
const MAX_HEADERS = 100;

/** How long, and for how many bytes, a refused client is still listened to, so that it comes to read the answer. */
export const LINGER = { ms: 2_000, bytes: 16 * 1024 * 1024 } as const;

const HOST = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** A request whose framing two readers could understand differently: 400, and the connection ends. */
const ambiguous = (message: string) =>
  new GatewayError("bad_request", message, { headers: { connection: "close" } });

/**
 * Refuses what Node's parser lets through although it is ambiguous or unbounded (RFC 9110, RFC 9112): a version that is not
 * HTTP/1.x, a target that is not a path, too long a target, too many headers, a repeated or malformed `Host`, a repeated
 * `Authorization`, an `Expect` other than `100-continue`. An `Upgrade` is ignored, as RFC 9110 allows: some HTTP clients
 * offer h2c with every request.
 *
 * Throws `bad_request`, `uri_too_long`, `headers_too_large` or `expectation_failed`.
 */
export function checkFraming(raw: IncomingMessage): void {
  const target = raw.url ?? "";
  // A line that ends with a bare LF is read as HTTP/0.9, headers and all.
  if (raw.httpVersionMajor !== 1) throw ambiguous("Only HTTP/1.0 and HTTP/1.1 are spoken here.");
  if (target.charCodeAt(0) !== 0x2f) throw ambiguous("The request target must be a path.");
  if (target.length > MAX_TARGET) throw tooLarge("uri_too_long", "The request target is over 8 KiB.");
  if (raw.rawHeaders.length > 2 * MAX_HEADERS) {
    throw tooLarge("headers_too_large", "The request has more than 100 headers.");
  }
  checkSingle(raw.rawHeaders);
  const { host, expect } = raw.headers;
  if (host !== undefined && !HOST.test(host)) throw ambiguous("The Host header is malformed.");
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
    throw new GatewayError("expectation_failed", "The only expectation that can be met is 100-continue.", {
      headers: { connection: "close" },
    });
  }
}

const tooLarge = (code: ErrorCode, message: string) =>
  new GatewayError(code, message, { headers: { connection: "close" } });

/** Node keeps the first of repeated `Host` and `Authorization` headers silently; a proxy in front may go by the last. */
function checkSingle(rawHeaders: readonly string[]): void {
  let hosts = 0;
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++;
    else if (name?.length === 13 && name.toLowerCase() === "authorization") credentials++;
  }
  if (hosts > 1) throw ambiguous("The Host header stands more than once.");
  if (credentials > 1) throw ambiguous("The Authorization header stands more than once.");
}

/**
 * Answers `Expect: 100-continue`, once the request may go on: a body announced over `limit` bytes is refused with
 * `request_too_large` before the client has sent it.
 */
export function continueOrRefuse(raw: IncomingMessage, response: ServerResponse, limit: number): void {
  if (Number(raw.headers["content-length"]) > limit) throw bodyTooLarge();
  response.writeContinue();
}

/** The refusal of a body over its bound. */
export const bodyTooLarge = () => tooLarge("request_too_large", "The request body is too large.");

/** Hands requests with an `Expect` header to the ordinary handler, which answers the expectation itself. */
export function ownExpectations(server: Server): void {
  const handle = (request: IncomingMessage, response: ServerResponse) =>
    server.emit("request", request, response);
  server.on("checkContinue", handle);
  server.on("checkExpectation", handle);
}

const CLIENT_ERRORS = new Map<string | undefined, readonly [ErrorCode, string]>([
  ["ERR_HTTP_REQUEST_TIMEOUT", ["request_timeout", "The request took too long to arrive."]],
  ["HPE_HEADER_OVERFLOW", ["headers_too_large", "The request headers are over 16 KiB."]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", ["request_too_large", "The chunk extensions are too large."]],
]);

/**
 * Answers what never became a request (`clientError` of `node:http`): the usual error body with `Connection: close`.
 * A socket that is in the midst of an answer is cut instead, for a second status line would become part of that answer.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  // Reading goes on after the answer and each further piece fails again; this keeps it from going on for ever.
  if (socket.writableEnded) return void (socket.bytesRead > LINGER.bytes && socket.destroy());
  if (!socket.writable || answering(socket)) return void socket.destroy();
  const [code, message] = CLIENT_ERRORS.get(error.code) ?? ["bad_request", "The request is malformed."];
  const refusal = new GatewayError(code, message);
  const body = JSON.stringify(refusal.toBody());
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\ncache-control: no-store\r\nx-request-id: ${newId("req_")}\r\n` +
      `${code === "request_timeout" ? "" : "x-should-retry: false\r\n"}connection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), LINGER.ms).unref();
}

/** Node itself goes by this private member in its own `clientError` answer; there is no public one. */
function answering(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}
