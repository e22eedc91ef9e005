import type { FastifyInstance } from "fastify";
import type { RunBook } from "../../engine/run-record.ts";
import { GatewayError } from "../../errors.ts";

/** `GET /runs/{id}`: the record of a recent run, for the caller who made it and for administrators. */
export function runRoutes(app: FastifyInstance, { book }: { book: RunBook }, done: () => void): void {
  app.get<{ Params: { id: string } }>("/runs/:id", { config: { access: "client" } }, async (request) => {
    const { caller, params } = request;
    const record = book.get(params.id, caller.kind === "admin" ? undefined : caller.name);
    if (record) return record;
    throw new GatewayError("run_not_found", "There is no such run, or it is no longer kept.");
  });
  done();
}
