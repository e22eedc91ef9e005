import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isObject } from "../../core/protocol/adapter.ts";
import type { KeptAnswers } from "../../engine/answer/kept-answers.ts";
import type { ChatCall, ChatEngine } from "../../engine/chat.ts";
import { newId } from "../../engine/new-id.ts";
import { GatewayError } from "../../errors.ts";
import { checkChatRequest } from "../chat-request.ts";
import { requireObject } from "../json-body.ts";
import { Repetition, replay } from "../repetition.ts";
import { SseSink, watchClient } from "../sse-sink.ts";

export interface ChatRouteDeps {
  engine: ChatEngine;
  answers: KeptAnswers;
  /** `strict` leaves the `toolweir` member out, as `x-toolweir-compat: strict` does for one request. */
  compat: "extended" | "strict";
}

const SESSION_ID = /^[A-Za-z0-9_.-]{1,64}$/;

const ROUTE = { config: { access: "client" as const }, onRequest: nameRun };

/** `POST /v1/chat/completions`, streamed and not. Every answer after authentication has the names of its run and session. */
export function chatRoute(
  app: FastifyInstance,
  { engine, answers, compat }: ChatRouteDeps,
  done: () => void,
): void {
  app.post("/v1/chat/completions", ROUTE, async (request, reply) => {
    const receivedAt = performance.now();
    const given = requireObject(request.body);
    const named = namedSession(request, given);
    const sessionId = named ?? newId("ses_");
    reply.header("x-toolweir-session", sessionId);
    const body = checkChatRequest(given);
    const repetition = new Repetition(request, reply, answers);
    const earlier = await repetition.earlier();
    if (earlier) return replay(reply, earlier);
    const stop = new AbortController();
    watchClient(reply, stop);
    const sink = body.stream === true ? new SseSink(reply) : undefined;
    const call: ChatCall = {
      runId: reply.getHeader("x-toolweir-run-id") as string,
      sessionId,
      isSessionNamed: named !== undefined,
      mayShare: !switchedOff(request, "x-toolweir-cache"),
      caller: request.caller,
      request: body,
      raw: request.rawBody as Buffer,
      authorization: request.caller.credential,
      traceparent: header(request, "traceparent"),
      toolsHeader: header(request, "x-toolweir-tools"),
      events: header(request, "x-toolweir-events") === "1",
      dryRun: header(request, "x-toolweir-dry-run") === "1",
      strict: compat === "strict" || header(request, "x-toolweir-compat") === "strict",
      receivedAt,
      stop,
      sink: sink && repetition.recording(sink),
      watch: repetition,
    };
    const answer = await repetition.watch(() => engine.answer(call));
    return finish(reply, sink, answer);
  });
  done();
}

/** Runs before the body is read: an answer to a body that nobody can read has the names too, the session's if a header says it. */
function nameRun(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.header("x-toolweir-run-id", newId("run_"));
  const session = header(request, "x-toolweir-session");
  if (session !== undefined && SESSION_ID.test(session)) reply.header("x-toolweir-session", session);
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

/** A header that can only say `off`. */
function switchedOff(request: FastifyRequest, name: string): boolean {
  const value = request.headers[name];
  if (value === undefined) return false;
  if (value === "off") return true;
  throw new GatewayError("invalid_value", `${name} can only be "off".`, { param: name });
}

/** By header, else by `metadata.session_id` or `user`. Only the header is refused when it is malformed. */
function namedSession(request: FastifyRequest, body: Record<string, unknown>): string | undefined {
  const given = header(request, "x-toolweir-session");
  if (given !== undefined) {
    if (SESSION_ID.test(given)) return given;
    throw new GatewayError(
      "invalid_value",
      'x-toolweir-session must be 1 to 64 letters, digits, "_", "." or "-".',
      { param: "x-toolweir-session" },
    );
  }
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  const named = [metadata["session_id"], body["user"]].find(
    (id) => typeof id === "string" && SESSION_ID.test(id),
  );
  return typeof named === "string" ? named : undefined;
}
