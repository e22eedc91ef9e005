import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { stringifyJson } from "../core/json/stringify.ts";
import type { JsonValue } from "../core/json/value.ts";
import { newId } from "../engine/new-id.ts";
import { GatewayError } from "../errors.ts";
import { type AccessOptions, createAccessCheck } from "./access.ts";
import { type AdmissionOptions, admitWork } from "./admission.ts";
import { createErrorHandler } from "./errors.ts";
import { answerClientError, checkFraming, continueOrRefuse, ownExpectations } from "./framing.ts";
import { acceptJson } from "./json-body.ts";
import { explainUnknownUrls } from "./unknown-url.ts";

/** Milliseconds unless the name says otherwise. */
export interface EdgeLimits {
  /** From the connection, or the end of the request before, to the end of the headers. */
  headers: number;
  /** To the end of the body; how long the answer takes is not limited here. */
  request: number;
  keepAlive: number;
  /** How often the limits above are looked at, so how late they may strike. */
  check: number;
  bodyBytes: number;
}

const LIMITS: EdgeLimits = {
  headers: 10_000,
  request: 30_000,
  keepAlive: 65_000, // above the usual 60 s of load balancers, so that they never meet a closed connection
  check: 1_000,
  bodyBytes: 8 * 1024 * 1024,
};

export interface ServerOptions extends AccessOptions {
  /** Told of every failure that is a fault of the gateway, before the client gets its constant text. */
  onError: (error: unknown, request: FastifyRequest) => void;
  limits?: Partial<EdgeLimits>;
  /** Absent: all work is admitted. */
  admission?: AdmissionOptions;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's own id where it is a plain word, else a new one. */
function requestId(raw: IncomingMessage): string {
  const given = raw.headers["x-request-id"];
  return typeof given === "string" && REQUEST_ID.test(given) ? given : newId("req_");
}

/**
 * The HTTP server without any route.
 *
 * 1. Every request passes, in this order: framing, shutdown, route and method, access, `Expect`, admission. The first that objects
 *    answers.
 * 2. Every answer has `x-request-id` and `cache-control: no-store`; every error is the OpenAI envelope.
 * 3. Headers, target, body, and the time to receive them, are bounded; the time of an answer is not.
 * 4. Only `application/json` bodies are read, except where a plugin sets up parsers of its own.
 * 5. A route is for administrators unless its `config.access` says otherwise.
 * 6. Route schemas check and never change a request.
 * 7. JSON answers have every digit of integers that JavaScript's numbers cannot hold.
 *
 * Listen on an address, not on the name `localhost`: Fastify's second server for that name would miss some of this.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const limits = { ...LIMITS, ...options.limits };
  const handleError = createErrorHandler(options.onError);
  const app: FastifyInstance = fastify({
    logger: false,
    http: {
      maxHeaderSize: 16 * 1024,
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      connectionsCheckingInterval: limits.check,
    },
    requestTimeout: limits.request,
    keepAliveTimeout: limits.keepAlive,
    bodyLimit: limits.bodyBytes,
    forceCloseConnections: "idle",
    return503OnClosing: false, // its answer is not our envelope: see `refuseWhenClosing`
    requestIdHeader: false,
    genReqId: requestId,
    clientErrorHandler: answerClientError,
    frameworkErrors: handleError,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    // Names are bounded by the target; a longer one is just not found.
    routerOptions: { maxParamLength: 16 * 1024 },
  });
  app.setErrorHandler(handleError);
  app.setReplySerializer((body) => stringifyJson(body as JsonValue));
  ownExpectations(app.server);
  acceptJson(app);
  guard(app, options);
  if (options.admission) admitWork(app, options.admission);
  return app;
}

/** The one `onRequest` hook of the edge. It waits only for a token that has to be checked, for it runs on every request. */
function guard(app: FastifyInstance, options: AccessOptions): void {
  const explain = explainUnknownUrls(app);
  const checkAccess = createAccessCheck(options);
  const isClosing = watchClosing(app);

  const enter = (request: FastifyRequest, reply: FastifyReply): void => {
    const { config, bodyLimit } = request.routeOptions;
    if (config?.url === undefined) throw explain(request.raw.url ?? "");
    if (request.headers.expect !== undefined) continueOrRefuse(request.raw, reply.raw, bodyLimit);
  };
  const check = (request: FastifyRequest, reply: FastifyReply): void | Promise<void> => {
    checkFraming(request.raw);
    const { config } = request.routeOptions;
    const missing = config?.url === undefined;
    const access = missing ? "public" : (config.access ?? "admin");
    if (isClosing() && access !== "public") throw shuttingDown();
    const checked = checkAccess(request, access);
    return checked instanceof Promise ? checked.then(() => enter(request, reply)) : enter(request, reply);
  };

  app.decorateRequest("caller");
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id).header("cache-control", "no-store");
    try {
      const checked = check(request, reply);
      if (checked instanceof Promise) return void checked.then(() => done(), done);
    } catch (error) {
      return done(error as Error);
    }
    done();
  });
}

/** How often sockets that became idle during the shutdown are closed. */
const REAP_MS = 100;

/**
 * While the server closes, sockets whose answer has ended would hold it open for the whole keep-alive time, and those on which
 * nothing has come yet for the whole header time.
 */
function watchClosing(app: FastifyInstance): () => boolean {
  let closing = false;
  let reaper: NodeJS.Timeout | undefined;
  const sockets = new Set<Socket>();
  app.server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const reap = () => {
    app.server.closeIdleConnections();
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  app.addHook("preClose", (done) => {
    closing = true;
    reaper = setInterval(reap, REAP_MS);
    done();
  });
  // Runs after Fastify has closed the server, for it was added before.
  app.addHook("onClose", (_app, done) => {
    clearInterval(reaper);
    done();
  });
  return () => closing;
}

const shuttingDown = () =>
  new GatewayError("shutting_down", "The gateway is shutting down.", {
    headers: { "retry-after": "1", connection: "close" },
  });
