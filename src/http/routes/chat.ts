import type { FastifyInstance, FastifyRequest } from "fastify";
import { isObject } from "../../core/protocol/adapter.ts";
import type { KeptAnswers } from "../../engine/answer/kept-answers.ts";
import { newId } from "../../engine/new-id.ts";
import { GatewayError } from "../../errors.ts";
import { answerRun, headerOf, isSessionId, nameRun, type RunAnswerDeps } from "../answer-run.ts";
import { checkChatRequest } from "../chat-request.ts";
import { requireObject } from "../json-body.ts";
import { Repetition } from "../repetition.ts";

const ROUTE = { config: { access: "client" as const, work: true }, onRequest: nameRun };

/** `POST /v1/chat/completions`, streamed and not. Every answer after authentication has the names of its run and session. */
export function chatRoute(
  app: FastifyInstance,
  { answers, ...deps }: RunAnswerDeps & { answers: KeptAnswers },
  done: () => void,
): void {
  app.post("/v1/chat/completions", ROUTE, async (request, reply) => {
    const given = requireObject(request.body);
    const named = namedSession(request, given);
    const sessionId = named ?? newId("ses_");
    reply.header("x-toolweir-session", sessionId);
    const body = checkChatRequest(given);
    const asked = {
      body,
      raw: request.rawBody as Buffer,
      sessionId,
      isSessionNamed: named !== undefined,
      toolsHeader: headerOf(request, "x-toolweir-tools"),
    };
    return answerRun(request, reply, deps, new Repetition(request, reply, answers), () => asked);
  });
  done();
}

/** By header, else by `metadata.session_id` or `user`. Only the header is refused when it is malformed. */
function namedSession(request: FastifyRequest, body: Record<string, unknown>): string | undefined {
  const given = headerOf(request, "x-toolweir-session");
  if (given !== undefined) {
    if (isSessionId(given)) return given;
    throw new GatewayError(
      "invalid_value",
      'x-toolweir-session must be 1 to 64 letters, digits, "_", "." or "-".',
      { param: "x-toolweir-session" },
    );
  }
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  return [metadata["session_id"], body["user"]].find(isSessionId);
}
