import { hash } from "node:crypto";
import { fastifySSE } from "@fastify/sse";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonValue } from "../../core/json/value.ts";
import { redactRun } from "../../engine/redact-run.ts";
import type { ToolSnapshot } from "../../engine/registry/tool-snapshot.ts";
import { type CaseSettings, makeCase } from "../../engine/run-case.ts";
import type { BookEntry, RunBook, RunRecord } from "../../engine/run-record.ts";
import type { SharedRuns } from "../../engine/shared-runs.ts";
import { GatewayError } from "../../errors.ts";

type RunRequest = FastifyRequest<{ Params: { id: string } }>;

export interface RunRouteDeps {
  book: RunBook;
  /** Runs that have ended in other processes. Absent where there are none. */
  shared: SharedRuns | undefined;
  /** What the calls of such a run are judged by. */
  tools: { snapshot(): ToolSnapshot };
  /** How the gateway reads arguments, and in which language it speaks to the model. */
  cases: CaseSettings;
  /** `redacted`: nothing of what was said is shown, and there are no case files. */
  content: "full" | "redacted";
}

/**
 * `GET /runs/{id}`: the record of a recent run, for the caller who made it and for administrators.
 * `GET /runs/{id}/events`: the same as server-sent events while the run goes on, the whole record after every change; the stream
 * ends with the run. The id of an event stands for that state of the record, at every gateway: who sends it as `Last-Event-ID` gets a
 * state again only where it is the last.
 * `GET /runs/{id}/case?call=ID`: one call of it as a case file.
 */
export function runRoutes(app: FastifyInstance, deps: RunRouteDeps, done: () => void): void {
  const { book, cases } = deps;
  const isRedacted = deps.content === "redacted";
  const shown = (record: RunRecord) => (isRedacted ? redactRun(record) : record);
  // Integers beyond the safe ones keep their digits, as in every JSON answer.
  const serializer = (record: unknown) => stringifyJson(record as JsonValue);
  app.register(fastifySSE, { heartbeatInterval: 15_000, serializer }).after(() => {
    app.get("/runs/:id", { config: { access: "client" } }, async (request: RunRequest, reply) => {
      const { text, record } = await entryOf(deps, request);
      if (text === undefined || isRedacted) return shown(record);
      return reply
        .type("application/json; charset=utf-8")
        .serializer((body: unknown) => String(body))
        .send(text);
    });
    app.get("/runs/:id/case", { config: { access: "client" } }, async (request: RunRequest) => {
      const entry = await entryOf(deps, request);
      if (isRedacted)
        throw new GatewayError(
          "insufficient_scope",
          "Cases hold arguments, which this gateway does not show.",
        );
      return makeCase(entry, callOf(request), cases);
    });
    app.get(
      "/runs/:id/events",
      { sse: "only", config: { access: "client" } },
      async (request: RunRequest, reply) => {
        const { record } = await entryOf(deps, request);
        let known = reply.sse.lastEventId;
        for await (const state of statesOf(book, record, (wake) => reply.sse.onClose(wake))) {
          if (!reply.sse.isConnected) return;
          const data = shown(state);
          const id = hash("sha256", serializer(data)).slice(0, 16);
          if (id !== known || state.ended_at !== null) await reply.sse.send({ id, data });
          else reply.sse.sendHeaders();
          known = id;
        }
      },
    );
  });
  done();
}

function callOf({ query }: RunRequest): string | undefined {
  const { call } = query as { call?: unknown };
  if (call === undefined || typeof call === "string") return call;
  throw new GatewayError("invalid_value", `"call" must be given once.`, { param: "call" });
}

/** A run of this process, or of another one; of that the record as text too, since its long integers would be rounded. */
async function entryOf(
  { book, shared, tools }: RunRouteDeps,
  { caller, params }: RunRequest,
): Promise<Pick<BookEntry, "record" | "tools"> & { text?: string }> {
  const owner = caller.kind === "admin" ? undefined : caller.name;
  const entry = book.get(params.id, owner);
  if (entry) return entry;
  const other = await shared?.find(params.id, owner);
  if (other)
    return { record: JSON.parse(other.text) as RunRecord, tools: tools.snapshot(), text: other.text };
  throw new GatewayError("run_not_found", "There is no such run, or it is no longer kept.");
}

/** The record now and after every change, until the run has ended or the reader is gone. Changes that come together count once. */
async function* statesOf(
  book: RunBook,
  record: RunRecord,
  onClose: (wake: () => void) => void,
): AsyncGenerator<RunRecord> {
  let changed = Promise.withResolvers<void>();
  let gone = false;
  onClose(() => {
    gone = true;
    changed.resolve();
  });
  const unwatch = book.watch(record.run_id, () => changed.resolve());
  try {
    while (!gone) {
      const ended = record.ended_at !== null; // asked before: while one state is sent, the run goes on
      yield record;
      if (ended) return;
      await changed.promise;
      changed = Promise.withResolvers<void>();
    }
  } finally {
    unwatch();
  }
}
