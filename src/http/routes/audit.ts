import type { FastifyInstance, FastifyRequest } from "fastify";
import { isoTime } from "../../engine/iso-time.ts";
import type { AuditLog, AuditRecord } from "../../engine/ports/audit.ts";
import { GatewayError } from "../../errors.ts";
import "../access.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const ID = /^\d{1,15}(?:-\d{1,15})?$/;
const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2}))?$/;
const NDJSON = "application/x-ndjson";

/**
 * `GET /audit?since=&limit=`: who changed tools and keys, decided about calls and elevated sessions, oldest first. `since` is a time, or
 * the `id` of the last record that is known. As one JSON object, or a line for each record where `Accept` names `application/x-ndjson`.
 */
export function auditRoute(app: FastifyInstance, { audit }: { audit: AuditLog }, done: () => void): void {
  app.get("/audit", { config: { access: "admin" } }, async (request, reply) => {
    const found = await audit.list(rangeOf(request));
    const data = found.map(toBody);
    if (!wantsLines(request)) return { object: "list", data };
    return reply.type(NDJSON).send(data.map((record) => `${JSON.stringify(record)}\n`).join(""));
  });
  done();
}

const wantsLines = ({ headers }: FastifyRequest): boolean =>
  /\bapplication\/x-ndjson\b/i.test(headers.accept ?? "");

const toBody = ({ id, at, ...event }: AuditRecord) => ({ id, at: isoTime(at), ...event });

function rangeOf({ query }: FastifyRequest): Parameters<AuditLog["list"]>[0] {
  const { since, limit = String(DEFAULT_LIMIT), ...unknown } = query as Record<string, unknown>;
  const [other] = Object.keys(unknown);
  if (other !== undefined) throw invalid(other.slice(0, 64), "Records are listed by since and limit only.");
  const count = Number(limit);
  if (typeof limit !== "string" || !Number.isSafeInteger(count) || count < 1)
    throw invalid("limit", '"limit" must be a positive whole number.');
  return { ...startOf(since), limit: Math.min(count, MAX_LIMIT) };
}

function startOf(since: unknown): { after?: string; from?: number } {
  if (since === undefined) return {};
  if (typeof since === "string" && ID.test(since)) return { after: since };
  const from = typeof since === "string" && TIME.test(since) ? Date.parse(since) : Number.NaN;
  if (Number.isNaN(from) || from < 0)
    throw invalid("since", '"since" must be a time such as "2030-01-31T12:00:00Z", or the id of a record.');
  return { from };
}

const invalid = (param: string, message: string) => new GatewayError("invalid_value", message, { param });
