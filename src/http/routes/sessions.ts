import type { FastifyInstance, FastifyRequest } from "fastify";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { isoTime } from "../../engine/iso-time.ts";
import {
  type KeptSession,
  mergedState,
  type SessionBook,
  type SessionName,
} from "../../engine/sessions/session-book.ts";
import { GatewayError } from "../../errors.ts";
import { requireObject } from "../json-body.ts";
import { TOKEN_CALLER } from "../token-callers.ts";

type SessionRequest = FastifyRequest<{ Params: { id: string } }>;

export interface SessionRouteDeps {
  sessions: SessionBook;
  /** Everybody who may have sessions, by the name of their key. */
  callers: () => readonly string[];
  /** Whether a request may manage: see every caller's sessions and elevate them. */
  mayManage(request: FastifyRequest): boolean;
  /** A session was deleted. */
  onClosed(name: SessionName): Promise<void>;
  /** Unix milliseconds. */
  now(): number;
}

const SESSION_ID = /^[A-Za-z0-9_.-]{1,64}$/;
const MEMBERS = ["state", "admin_until"];
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const ROUTE = { config: { access: "client" as const } };

/**
 * `GET`, `PATCH` and `DELETE /sessions/{id}`: what a caller's own session holds. Who manages the gateway names the caller with
 * `?caller=`, where it is not clear, and alone may set `admin_until`.
 */
export function sessionRoutes(app: FastifyInstance, deps: SessionRouteDeps, done: () => void): void {
  const { sessions } = deps;
  app.get("/sessions/:id", ROUTE, async (request: SessionRequest) => {
    const name = await nameOf(request, deps, false);
    return toAnswer(name, await found(sessions, name));
  });
  app.patch("/sessions/:id", ROUTE, async (request: SessionRequest) => {
    const change = readChange(requireObject(request.body), deps.mayManage(request));
    const name = await nameOf(request, deps, true);
    const kept = await sessions.change(name, (data) => {
      const state = change.state ? mergedState(data.state, change.state) : data.state;
      if (!state) throw invalid("state", '"state" has at most 256 keys, 64 KiB and 32 levels.');
      const { admin_until = data.admin_until } = change;
      return { ...data, state, admin_until };
    });
    return toAnswer(name, kept);
  });
  app.delete("/sessions/:id", ROUTE, async (request: SessionRequest, reply) => {
    const name = await nameOf(request, deps, false);
    if (!(await sessions.delete(name))) throw notFound();
    await deps.onClosed(name);
    return reply.code(204).send();
  });
  done();
}

/** The caller's own session, or for who manages the one of the caller that is named or that alone can be meant. */
async function nameOf(
  request: SessionRequest,
  { sessions, callers: all, mayManage }: SessionRouteDeps,
  mayBeNew: boolean,
): Promise<SessionName> {
  const { id } = request.params;
  const callers = all();
  if (!SESSION_ID.test(id))
    throw mayBeNew ? invalid("id", "A session id has 1 to 64 letters, digits, _, . or -.") : notFound();
  const { caller } = request.query as { caller?: unknown };
  if (!mayManage(request)) {
    if (caller !== undefined && caller !== request.caller.name) throw notFound();
    return { caller: request.caller.name, id };
  }
  if (caller !== undefined) {
    if (typeof caller === "string" && (callers.includes(caller) || caller.startsWith(TOKEN_CALLER)))
      return { caller, id };
    throw invalid("caller", `"caller" must be one of: ${callers.join(", ")}.`);
  }
  return { caller: await theOnly(sessions, callers, id, mayBeNew), id };
}

/** The caller who has a session of this id, or alone can have one. */
async function theOnly(
  sessions: SessionBook,
  callers: readonly string[],
  id: string,
  mayBeNew: boolean,
): Promise<string> {
  const kept = await Promise.all(
    callers.map(async (one) => ((await sessions.load({ caller: one, id })) ? [one] : [])),
  );
  const [only, ...others] = kept.flat();
  if (others.length > 0) {
    const message = `Several callers have a session "${id}": ${kept.flat().join(", ")}. Say which one with ?caller=NAME.`;
    throw new GatewayError("session_ambiguous", message, { param: "caller" });
  }
  if (only !== undefined) return only;
  if (!mayBeNew) throw notFound();
  const [first, ...more] = callers.filter((one) => one !== "admin" || callers.length === 1);
  if (first !== undefined && more.length === 0) return first;
  throw invalid(
    "caller",
    `There is no session "${id}" yet. Say whose it will be with ?caller=NAME: ${callers.join(", ")}.`,
  );
}

async function found(sessions: SessionBook, name: SessionName): Promise<KeptSession> {
  const kept = await sessions.load(name);
  if (!kept) throw notFound();
  return kept;
}

interface Change {
  state?: JsonObject;
  admin_until?: number | null;
}

function readChange(body: Record<string, unknown>, mayManage: boolean): Change {
  const unknown = Object.keys(body).find((member) => !MEMBERS.includes(member));
  if (unknown !== undefined) {
    throw new GatewayError(
      "unsupported_parameter",
      `"${unknown.slice(0, 64)}" cannot be changed; ${MEMBERS.join(" and ")} can.`,
      {
        param: unknown.slice(0, 64),
      },
    );
  }
  const { state, admin_until } = body;
  if (admin_until !== undefined && !mayManage) {
    throw new GatewayError("insufficient_scope", 'Only who manages the gateway may set "admin_until".', {
      param: "admin_until",
    });
  }
  return {
    ...(state !== undefined && { state: readState(state) }),
    ...(admin_until !== undefined && { admin_until: readTime(admin_until) }),
  };
}

function readState(state: unknown): JsonObject {
  if (typeof state !== "object" || state === null || Array.isArray(state)) {
    throw new GatewayError(
      "invalid_type",
      '"state" must be an object: keys to set, and null for keys to remove.',
      {
        param: "state",
      },
    );
  }
  if (losesDigits(state as JsonObject))
    throw invalid("state", '"state" cannot hold integers beyond 2^53; send them as strings.');
  return state as JsonObject;
}

function losesDigits(value: JsonValue): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(losesDigits);
}

function readTime(value: unknown): number | null {
  if (value === null) return null;
  const time = typeof value === "string" && TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time))
    throw invalid("admin_until", '"admin_until" must be a time such as "2030-01-31T12:00:00Z", or null.');
  return time;
}

function toAnswer({ caller, id }: SessionName, { data, expiresAt }: KeptSession): object {
  const times = (time: number | null) => (time === null ? null : isoTime(time));
  return {
    id,
    caller,
    state: data.state,
    admin_until: times(data.admin_until),
    tools_used: Object.fromEntries(
      Object.entries(data.tools_used).map(([tool, { count, last_at }]) => [
        tool,
        { count, last_at: times(last_at) },
      ]),
    ),
    counters: data.counters,
    runs: data.runs.map((run) => ({
      ...run,
      started_at: times(run.started_at),
      ended_at: times(run.ended_at),
    })),
    created_at: times(data.created_at),
    updated_at: times(data.updated_at),
    expires_at: times(expiresAt),
  };
}

const invalid = (param: string, message: string) => new GatewayError("invalid_value", message, { param });
const notFound = () => new GatewayError("session_not_found", "There is no such session, or it has expired.");
