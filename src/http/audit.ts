import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditEvent } from "../engine/ports/audit.ts";

type Body = Readonly<Record<string, unknown>>;
type Details = AuditEvent["details"];

interface Audited {
  action: string;
  /** What it was done to, where that is not the `name` or `id` of the path. */
  target?: (body: Body) => unknown;
  /** Further members; `undefined` if this request did nothing to be recorded. */
  details?: (body: Body) => Details | undefined;
}

/** What is recorded here, by route. Decisions about calls are recorded where they are written down, and so are keys. */
const AUDITED: Readonly<Record<string, Audited>> = {
  "POST /tools": { action: "tool.created", target: ({ name }) => name },
  "PUT /tools/:name": { action: "tool.changed" },
  "PATCH /tools/:name": { action: "tool.changed" },
  "POST /tools/:name/rollback": {
    action: "tool.rolled_back",
    details: ({ version }) => ({ to: Number(version) }),
  },
  "DELETE /tools/:name": { action: "tool.deleted" },
  "POST /approvals/:id/retry": { action: "approval.retried" },
  "PATCH /sessions/:id": { action: "session.elevated", details: elevation },
};

function elevation({ admin_until: until }: Body): Details | undefined {
  return until === undefined ? undefined : { admin_until: until === null ? null : String(until) };
}

/**
 * From now on every route that is registered and changes what the gateway does is recorded when it has done so, before its answer
 * begins. Requests that were refused are not. Other routes get no hook. `record` must not fail.
 */
export function recordChanges(app: FastifyInstance, record: (event: AuditEvent) => Promise<void>): void {
  app.addHook("onRoute", (route) => {
    const audited = AUDITED[`${String(route.method)} ${route.url}`];
    if (!audited) return;
    const before = [route.onSend ?? []].flat();
    route.onSend = [
      ...before,
      async (request, reply, payload) => {
        const event = reply.statusCode < 300 ? eventOf(audited, request, reply.getHeader("etag")) : undefined;
        if (event) await record(event);
        return payload;
      },
    ];
  });
}

function eventOf(audited: Audited, request: FastifyRequest, etag: unknown): AuditEvent | undefined {
  const { action, target, details } = audited;
  const body = (request.body ?? {}) as Body;
  const { name, id } = request.params as { name?: string; id?: string };
  const said = details ? details(body) : {};
  if (!said) return undefined;
  const version = typeof etag === "string" ? { etag } : {};
  return {
    action,
    actor: request.caller.name,
    target: String(target?.(body) ?? name ?? id),
    request_id: request.id,
    details: { ...version, ...said },
  };
}
