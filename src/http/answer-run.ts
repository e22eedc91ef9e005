import type { FastifyReply, FastifyRequest } from "fastify";
import type { ChatRequest } from "../core/protocol/wire.ts";
import type { ParkedRun } from "../engine/approvals/parked.ts";
import type { ChatCall, ChatEngine } from "../engine/chat.ts";
import { newId } from "../engine/new-id.ts";
import type { ApprovalMode } from "../engine/run-options.ts";
import { GatewayError } from "../errors.ts";
import { type Repetition, replay } from "./repetition.ts";
import { SseSink, watchClient } from "./sse-sink.ts";

/** What answers runs, and how where a request does not say it. */
export interface RunAnswerDeps {
  engine: ChatEngine;
  /** `strict` leaves the `toolweir` member out, as `x-toolweir-compat: strict` does for one request. */
  compat: "extended" | "strict";
  /** What happens when calls wait for a person, as `x-toolweir-approval` says it for one request. */
  approvalMode: ApprovalMode;
}

/** A conversation to answer. */
export interface Asked {
  body: ChatRequest;
  /** The body as it came. */
  raw: Buffer;
  sessionId: string;
  isSessionNamed: boolean;
  toolsHeader: string | undefined;
  /** The run that is gone on with. */
  resumed?: ParkedRun;
}

const APPROVAL_MODES: readonly ApprovalMode[] = ["park", "hold", "client"];

/** Answers like chat completions, streamed or not; a repeated request with the answer that it had. */
export async function answerRun(
  request: FastifyRequest,
  reply: FastifyReply,
  { engine, compat, approvalMode }: RunAnswerDeps,
  repetition: Repetition,
  asked: () => Promise<Asked> | Asked,
): Promise<unknown> {
  const receivedAt = performance.now();
  const mode = approvalModeOf(request, approvalMode);
  const earlier = await repetition.earlier();
  if (earlier) return replay(reply, earlier);
  const { body, raw, sessionId, isSessionNamed, toolsHeader, resumed } = await asked();
  const stop = new AbortController();
  watchClient(reply, stop);
  const sink = body.stream === true ? new SseSink(reply) : undefined;
  if (sink) repetition.listenTo(sink);
  const call: ChatCall = {
    runId: reply.getHeader("x-toolweir-run-id") as string,
    sessionId,
    isSessionNamed,
    mayShare: !switchedOff(request, "x-toolweir-cache"),
    caller: request.caller,
    request: body,
    raw,
    authorization: request.caller.credential,
    traceparent: headerOf(request, "traceparent"),
    toolsHeader,
    events: headerOf(request, "x-toolweir-events") === "1",
    dryRun: headerOf(request, "x-toolweir-dry-run") === "1",
    strict: compat === "strict" || headerOf(request, "x-toolweir-compat") === "strict",
    receivedAt,
    stop,
    sink,
    watch: repetition,
    approvalMode: mode,
    resumed,
    announce: (headers) => void reply.headers(headers),
  };
  const answer = await repetition.watch(() => engine.answer(call));
  return finish(reply, sink, answer);
}

/** A stream is not the framework's to answer, and neither is a client that has left. */
function finish(reply: FastifyReply, sink: SseSink | undefined, answer: object | undefined): unknown {
  if (!sink && answer) return answer;
  sink?.end();
  return reply.hijack();
}

/** A header that can only say `off`. */
function switchedOff(request: FastifyRequest, name: string): boolean {
  const value = request.headers[name];
  if (value === undefined) return false;
  if (value === "off") return true;
  throw new GatewayError("invalid_value", `${name} can only be "off".`, { param: name });
}

/** `x-toolweir-approval`, else the setting. */
function approvalModeOf(request: FastifyRequest, setting: ApprovalMode): ApprovalMode {
  const given = headerOf(request, "x-toolweir-approval");
  if (given === undefined) return setting;
  const mode = APPROVAL_MODES.find((known) => known === given);
  if (mode !== undefined) return mode;
  const message = `x-toolweir-approval must be one of ${APPROVAL_MODES.join(", ")}.`;
  throw new GatewayError("invalid_value", message, { param: "x-toolweir-approval" });
}

const SESSION_ID = /^[A-Za-z0-9_.-]{1,64}$/;

/** Whether a text can be the name of a session. */
export const isSessionId = (text: unknown): text is string =>
  typeof text === "string" && SESSION_ID.test(text);

/** Runs before the body is read: an answer to a body that nobody can read has the names too, the session's if a header says it. */
export function nameRun(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.header("x-toolweir-run-id", newId("run_"));
  const session = headerOf(request, "x-toolweir-session");
  if (isSessionId(session)) reply.header("x-toolweir-session", session);
  done();
}

/** A header that stands once. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}
