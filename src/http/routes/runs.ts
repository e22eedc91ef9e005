import { fastifySSE } from "@fastify/sse";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonValue } from "../../core/json/value.ts";
import { type CaseSettings, makeCase } from "../../engine/run-case.ts";
import type { BookEntry, RunBook, RunRecord } from "../../engine/run-record.ts";
import { GatewayError } from "../../errors.ts";

type RunRequest = FastifyRequest<{ Params: { id: string } }>;

export interface RunRouteDeps {
  book: RunBook;
  /** How the gateway reads arguments, and in which language it speaks to the model. */
  cases: CaseSettings;
}

/**
 * `GET /runs/{id}`: the record of a recent run, for the caller who made it and for administrators.
 * `GET /runs/{id}/events`: the same as server-sent events while the run goes on, the whole record after every change; the stream
 * ends with the run.
 * `GET /runs/{id}/case?call=ID`: one call of it as a case file.
 */
export function runRoutes(app: FastifyInstance, { book, cases }: RunRouteDeps, done: () => void): void {
  // Integers beyond the safe ones keep their digits, as in every JSON answer.
  const serializer = (record: unknown) => stringifyJson(record as JsonValue);
  app.register(fastifySSE, { heartbeatInterval: 15_000, serializer }).after(() => {
    app.get(
      "/runs/:id",
      { config: { access: "client" } },
      async (request: RunRequest) => entryOf(book, request).record,
    );
    app.get("/runs/:id/case", { config: { access: "client" } }, async (request: RunRequest) =>
      makeCase(entryOf(book, request), callOf(request), cases),
    );
    app.get(
      "/runs/:id/events",
      { sse: "only", config: { access: "client" } },
      async (request: RunRequest, reply) => {
        const { record } = entryOf(book, request);
        for await (const state of statesOf(book, record, (wake) => reply.sse.onClose(wake))) {
          if (!reply.sse.isConnected) return;
          await reply.sse.send({ data: state });
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

function entryOf(book: RunBook, { caller, params }: RunRequest): BookEntry {
  const entry = book.get(params.id, caller.kind === "admin" ? undefined : caller.name);
  if (entry) return entry;
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
