import { hash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { rawMembers } from "../../core/json/raw-object.ts";
import type { ChatRequest } from "../../core/protocol/wire.ts";
import type { KeptAnswers } from "../../engine/answer/kept-answers.ts";
import type { Approvals } from "../../engine/approvals/approvals.ts";
import { findParked, type ParkedRun } from "../../engine/approvals/parked.ts";
import type { DocumentStore } from "../../engine/ports/stores.ts";
import { GatewayError } from "../../errors.ts";
import { type Asked, answerRun, nameRun, type RunAnswerDeps } from "../answer-run.ts";
import { requireObject } from "../json-body.ts";
import { Repetition } from "../repetition.ts";

/** How long the answer is given again to those who ask for it again. */
const KEPT_MS = 24 * 60 * 60 * 1000;

const ROUTE = { config: { access: "client" as const, work: true }, bodyLimit: 16 * 1024, onRequest: nameRun };

type ResumeRequest = FastifyRequest<{ Params: { id: string } }>;

/**
 * `POST /runs/{id}/resume` with `{stream}`: goes on with a run in which calls waited for a person, once all are decided, and answers like chat
 * completions. The run is gone on with once; whoever asks again gets the same answer.
 */
export function resumeRoute(
  app: FastifyInstance,
  {
    answers,
    documents,
    approvals,
    ...deps
  }: RunAnswerDeps & { answers: KeptAnswers; documents: DocumentStore; approvals: Approvals },
  done: () => void,
): void {
  app.post("/runs/:id/resume", ROUTE, async (request: ResumeRequest, reply) => {
    const { id } = request.params;
    const stream = streamOf(request);
    const parked = await findParked(documents, id, request.caller.name);
    if (!parked) {
      throw new GatewayError("run_not_found", "There is no run of this id that waits for an approval.");
    }
    reply.header("x-toolweir-session", parked.sessionId);
    await checkDecided(approvals, parked);
    const key = {
      id: hash("sha256", JSON.stringify(["resume", id])),
      // The answer can be given again only as it was.
      fingerprint: String(stream ?? "as it was"),
      ttlMs: KEPT_MS,
    };
    const repetition = new Repetition(request, reply, answers, key);
    try {
      return await answerRun(request, reply, deps, repetition, () => askedBy(parked, stream));
    } catch (error) {
      throw sameForm(error);
    }
  });
  done();
}

/** The answer is kept in the form in which it was first given. */
function sameForm(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== "idempotency_key_reuse") return error;
  const message =
    'The run was gone on with before, with another "stream". Send the same one to get its answer.';
  return new GatewayError("invalid_value", message, { param: "stream" });
}

function streamOf({ body }: FastifyRequest): boolean | undefined {
  if (body === undefined) return undefined;
  const { stream, ...unknown } = requireObject(body);
  const [other] = Object.keys(unknown);
  if (other !== undefined) {
    throw new GatewayError("unsupported_parameter", `The body may hold "stream" and nothing else.`, {
      param: other.slice(0, 64),
    });
  }
  if (stream === undefined || typeof stream === "boolean") return stream;
  throw new GatewayError("invalid_type", `"stream" must be a boolean.`, { param: "stream" });
}

async function checkDecided(approvals: Approvals, parked: ParkedRun): Promise<void> {
  const entries = await Promise.all(parked.approvals.map((id) => approvals.get(id)));
  const waiting = entries.flatMap((entry) => (entry?.state === "awaiting_approval" ? entry.id : []));
  if (waiting.length === 0) return;
  throw new GatewayError(
    "approval_pending",
    `The run still waits for a decision about ${waiting.join(", ")}.`,
  );
}

/** The request of the parked run, streamed as it is wanted now. */
function askedBy(parked: ParkedRun, stream: boolean | undefined): Asked {
  const given = Buffer.from(parked.request);
  const raw = stream === undefined ? given : streamedAs(given, stream);
  const body = JSON.parse(raw.toString("utf8")) as ChatRequest;
  const { sessionId, isSessionNamed, toolsHeader } = parked;
  return { body, raw, sessionId, isSessionNamed, toolsHeader, resumed: parked };
}

/** The body with another `stream`; without it there can be no options of it. */
function streamedAs(body: Buffer, stream: boolean): Buffer {
  const kept = rawMembers(body).filter(
    ({ name }) => name !== "stream" && (stream || name !== "stream_options"),
  );
  const texts = kept.map(({ from, to }) => body.toString("utf8", from, to));
  return Buffer.from(`{${[...texts, `"stream":${stream}`].join(",")}}`);
}
