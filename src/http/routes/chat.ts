import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ChatRequest } from "../../core/protocol/wire.ts";
import type { ChatEngine } from "../../engine/chat.ts";
import { GatewayError } from "../../errors.ts";
import { checkChatRequest } from "../chat-request.ts";
import { requireObject } from "../json-body.ts";
import { SseSink, watchClient } from "../sse-sink.ts";

export interface ChatRouteDeps {
  engine: ChatEngine;
  /** `strict` leaves the `toolweir` member out, as `x-toolweir-compat: strict` does for one request. */
  compat: "extended" | "strict";
}

const SESSION_ID = /^[A-Za-z0-9_.-]{1,64}$/;
const IDEMPOTENCY_KEY = /^[A-Za-z0-9_.:-]{1,255}$/;

/** `POST /v1/chat/completions`, streamed and not. */
export function chatRoute(app: FastifyInstance, { engine, compat }: ChatRouteDeps, done: () => void): void {
  app.post("/v1/chat/completions", { config: { access: "client" } }, async (request, reply) => {
    const receivedAt = performance.now();
    const body = checkChatRequest(requireObject(request.body));
    checkIdempotencyKey(request);
    const sessionId = sessionOf(request, body);
    const runId = `run_${randomUUID().replaceAll("-", "")}`;
    reply.header("x-toolweir-run-id", runId).header("x-toolweir-session", sessionId);
    const stop = new AbortController();
    watchClient(reply, stop);
    const sink = body.stream === true ? new SseSink(reply) : undefined;
    const answer = await engine.answer({
      runId,
      sessionId,
      caller: request.caller,
      request: body,
      raw: request.rawBody as Buffer,
      authorization: request.caller.credential,
      traceparent: header(request, "traceparent"),
      toolsHeader: header(request, "x-toolweir-tools"),
      events: header(request, "x-toolweir-events") === "1",
      strict: compat === "strict" || header(request, "x-toolweir-compat") === "strict",
      receivedAt,
      stop,
      sink,
    });
    return finish(reply, sink, answer);
  });
  done();
}

/** A stream is not the framework's to answer, and neither is a client that has left. */
function finish(reply: FastifyReply, sink: SseSink | undefined, answer: object | undefined): unknown {
  if (!sink && answer) return answer;
  sink?.end();
  return reply.hijack();
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

/** By header, else by `metadata.session_id` or `user`, else a new one. Only the header is refused when it is malformed. */
function sessionOf(request: FastifyRequest, body: ChatRequest): string {
  const given = header(request, "x-toolweir-session");
  if (given !== undefined) {
    if (SESSION_ID.test(given)) return given;
    throw new GatewayError(
      "invalid_value",
      'x-toolweir-session must be 1 to 64 letters, digits, "_", "." or "-".',
      { param: "x-toolweir-session" },
    );
  }
  const named = [body.metadata?.["session_id"], body.user].find(
    (id) => typeof id === "string" && SESSION_ID.test(id),
  );
  return named ?? `ses_${randomUUID().replaceAll("-", "")}`;
}

function checkIdempotencyKey(request: FastifyRequest): void {
  const key = request.headers["idempotency-key"];
  if (key === undefined || (typeof key === "string" && IDEMPOTENCY_KEY.test(key))) return;
  throw new GatewayError(
    "invalid_idempotency_key",
    'Idempotency-Key must be 1 to 255 letters, digits, "_", ".", ":" or "-".',
  );
}
