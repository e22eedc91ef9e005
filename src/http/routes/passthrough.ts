import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { PassThrough, PassThroughHandler, UpstreamCall } from "../../engine/ports/upstream.ts";
import { GatewayError } from "../../errors.ts";
import { bodyTooLarge } from "../framing.ts";

export interface PassThroughOptions {
  passThrough: PassThrough;
  /** Largest request body in bytes; 64 MiB by default, for files. It is never held as a whole. */
  maxBodyBytes?: number;
  /** Milliseconds in which a client that is behind must take what is buffered for it; 30 s by default. */
  stallMs?: number;
}

const PREFIX = "/v1";
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Headers about one connection only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** Of a request also what is settled anew for the upstream, or is between the client and the gateway. */
const NOT_FOR_UPSTREAM = [...HOP_BY_HOP, "authorization", "cookie", "expect", "host", "http2-settings"];

/**
 * Everything under `/v1/` that has no route of its own goes to the default upstream and back.
 *
 * 1. Bytes are not changed in either direction: body, status, query, and headers except those of one connection,
 *    `authorization`, `cookie` and `x-toolweir-*`. `x-request-id` is the upstream's where it sent one.
 * 2. Neither side is read faster than the other takes it; a client that does not catch up within `stallMs` is cut off.
 * 3. A client that leaves ends the request to the upstream at once; an upstream that breaks off ends the connection to the client.
 * 4. The path cannot leave the base URL of the upstream: dot segments are refused in every spelling.
 */
export function passThroughRoutes(
  app: FastifyInstance,
  { passThrough, maxBodyBytes = 64 * 1024 * 1024, stallMs = 30_000 }: PassThroughOptions,
  done: () => void,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _body, ready) => ready(null));
  app.route({
    method: METHODS,
    url: `${PREFIX}/*`,
    bodyLimit: maxBodyBytes,
    config: { access: "client", work: true },
    handler: (request, reply) => {
      refuseHeadOfOwnRoute(app, request);
      const { raw } = request;
      const call: UpstreamCall = passThrough.forward(
        {
          method: request.method,
          path: upstreamPath(raw.url ?? ""),
          headers: withoutHeaders(raw.rawHeaders, NOT_FOR_UPSTREAM, "x-toolweir-"),
          authorization: request.caller.credential,
          body: bodyOf(raw, maxBodyBytes),
        },
        toClient(reply, stallMs, () => call),
      );
      reply.raw.once("close", () => call.abort());
    },
  });
  done();
}

/** A HEAD of an endpoint that the gateway answers itself would cost upstream work for nothing. */
function refuseHeadOfOwnRoute(app: FastifyInstance, request: FastifyRequest): void {
  if (request.method !== "HEAD") return;
  const url = request.url.split("?", 1)[0] ?? "";
  if (!app.hasRoute({ url, method: "POST" })) return;
  throw new GatewayError("method_not_supported", "This URL does not have that method.", {
    headers: { allow: "POST" },
  });
}

/**
 * The part of a request target below `/v1`, query included. Throws `bad_request` for a path with a `.` or `..` segment, also one
 * that becomes so by decoding it once or more, and for one whose `/v1` is itself encoded.
 */
export function upstreamPath(target: string): string {
  const path = target.split("?", 1)[0] ?? "";
  if (!path.startsWith(`${PREFIX}/`) || path.includes("#") || hasDotSegment(path)) {
    throw new GatewayError("bad_request", "This path cannot be passed on to the upstream.");
  }
  return target.slice(PREFIX.length);
}

function hasDotSegment(path: string): boolean {
  let text = path;
  // Each server on the way may decode once; more than three would be a construction.
  for (let times = 0; times <= 3; times++) {
    if (text.split(/[/\\]/).some((segment) => /^\.\.?(?:;.*)?$/.test(segment))) return true;
    const decoded = decode(text);
    if (decoded === text) return false;
    if (decoded === undefined) return times === 0;
    text = decoded;
  }
  return true;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The list without the named headers, those that `Connection` names, and those whose name begins with `prefix`. */
function withoutHeaders(raw: readonly string[], names: readonly string[], prefix?: string): string[] {
  const dropped = new Set(names);
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== "connection") continue;
    for (const name of raw[at + 1]?.split(",") ?? []) dropped.add(name.trim().toLowerCase());
  }
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    const lower = name.toLowerCase();
    if (!dropped.has(lower) && !(prefix && lower.startsWith(prefix))) kept.push(name, value);
  }
  return kept;
}

function bodyOf(raw: IncomingMessage, limit: number): AsyncIterable<Uint8Array> | undefined {
  const length = Number(raw.headers["content-length"] ?? 0);
  if (length > limit) throw bodyTooLarge();
  return length > 0 || raw.headers["transfer-encoding"] !== undefined ? bounded(raw, limit) : undefined;
}

async function* bounded(raw: IncomingMessage, limit: number): AsyncGenerator<Uint8Array> {
  let total = 0;
  // The request must outlive its reader: destroying it would take the connection and the answer with it.
  for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
    total += chunk.length;
    if (total > limit) throw bodyTooLarge();
    yield chunk;
  }
}

function toClient(reply: FastifyReply, stallMs: number, call: () => UpstreamCall): PassThroughHandler {
  const { raw } = reply;
  let stalled: NodeJS.Timeout | undefined;
  const moving = () => {
    clearTimeout(stalled);
    stalled = undefined;
  };
  raw.once("close", moving);
  raw.on("drain", () => {
    moving();
    call().resume();
  });
  return {
    onHead(status, upstreamHeaders) {
      // Bounds of the gateway hold for its client, not those of the upstream for the gateway.
      const own = Object.entries(reply.getHeaders()).filter(([name]) => name.startsWith("x-ratelimit-"));
      const headers = withoutHeaders(
        upstreamHeaders,
        HOP_BY_HOP,
        own.length > 0 ? "x-ratelimit-" : undefined,
      );
      for (const [name, value] of own) headers.push(name, String(value));
      const names = new Set(headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
      if (!names.has("x-request-id")) headers.push("x-request-id", reply.request.id);
      reply.hijack();
      raw.writeHead(status, headers);
      // A stream may begin long after its head; other answers go out in one piece with it.
      if (!names.has("content-length")) raw.flushHeaders();
    },
    onData(bytes) {
      if (raw.write(bytes)) return;
      call().pause();
      stalled ??= setTimeout(() => raw.destroy(), stallMs);
    },
    onEnd() {
      raw.end();
    },
    onError(error) {
      if (raw.headersSent) raw.destroy();
      else void reply.send(error);
    },
  };
}
