import type { FastifyInstance, FastifyRequest } from "fastify";
import { rawMembers } from "../../core/json/raw-object.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonValue } from "../../core/json/value.ts";
import type { Approvals, Decider, Decision } from "../../engine/approvals/approvals.ts";
import { approvalView, visibleJson } from "../../engine/approvals/view.ts";
import type { LedgerState } from "../../engine/ports/ledger.ts";
import { GatewayError } from "../../errors.ts";
import { requireObject } from "../json-body.ts";

/** A decision is a word and a reason, and arguments at the most. */
const BODY_LIMIT = 16 * 1024;
const MAX_REASON = 2_000;
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const SHA256 = /^[0-9a-f]{64}$/i;

const ROUTE = { config: { access: "approvals" as const }, bodyLimit: BODY_LIMIT };

/** The states under the names of this API. */
const STATUS: Readonly<Record<string, LedgerState>> = {
  pending: "awaiting_approval",
  approved: "approved",
  executing: "executing",
  succeeded: "succeeded",
  failed: "failed",
  outcome_unknown: "outcome_unknown",
  denied: "denied",
  expired: "expired",
  stale: "stale",
  cancelled: "cancelled",
};

type IdRequest = FastifyRequest<{ Params: { id: string } }>;

/**
 * Calls that a person has to decide about, and others that may have changed something. A client key sees its own; whoever may decide sees all.
 * Bodies have at most 16 KiB. What people do not see in a text is escaped in every answer.
 */
export function approvalRoutes(
  app: FastifyInstance,
  { approvals }: { approvals: Approvals },
  done: () => void,
): void {
  // The same JSON value as elsewhere, spelled so that whoever reads the answer as text sees what is approved.
  app.setReplySerializer((body) => visibleJson(stringifyJson(body as JsonValue)));

  app.get("/approvals", ROUTE, async (request) => {
    const entries = await approvals.list(deciderOf(request), filterOf(request));
    return { object: "list", data: entries.map(approvalView) };
  });
  app.get("/approvals/:id", ROUTE, async (request: IdRequest) =>
    approvalView(await approvals.find(request.params.id, deciderOf(request))),
  );
  for (const [verb, kind] of [
    ["approve", "approved"],
    ["deny", "denied"],
  ] as const) {
    app.post(`/approvals/:id/${verb}`, ROUTE, async (request: IdRequest) => {
      const by = deciderOf(request);
      // Who may not decide is told so, whatever the body says.
      await approvals.decidable(request.params.id, by);
      return approvalView(
        await approvals.decide(request.params.id, by, { kind, ...decisionOf(request, kind) }),
      );
    });
  }
  app.post("/approvals/:id/resolve", ROUTE, async (request: IdRequest) => {
    const by = deciderOf(request);
    await approvals.decidable(request.params.id, by);
    const { outcome, note = "" } = members(request, ["outcome", "note"]);
    if (outcome !== "succeeded" && outcome !== "failed") {
      throw invalid("outcome", `"outcome" must be one of succeeded, failed.`);
    }
    return approvalView(await approvals.resolve(request.params.id, by, outcome, textOf("note", note) ?? ""));
  });
  app.post("/approvals/:id/retry", ROUTE, async (request: IdRequest) => {
    const by = deciderOf(request);
    await approvals.decidable(request.params.id, by);
    const { accept_duplicate_risk: accepts = false } = members(request, ["accept_duplicate_risk"]);
    if (typeof accepts !== "boolean") {
      throw invalid("accept_duplicate_risk", `"accept_duplicate_risk" must be a boolean.`);
    }
    return approvalView(await approvals.retry(request.params.id, by, accepts));
  });
  done();
}

const deciderOf = ({ caller: { name, mayApprove } }: FastifyRequest): Decider => ({
  name,
  mayDecide: mayApprove,
});

function filterOf({ query }: FastifyRequest): { states?: readonly LedgerState[]; limit: number } {
  const { status, limit, ...unknown } = query as Record<string, unknown>;
  const [other] = Object.keys(unknown);
  if (other !== undefined)
    throw invalid(other.slice(0, 64), "Approvals are listed by status and limit only.");
  const count = limit === undefined ? DEFAULT_LIMIT : Number(limit);
  if (!Number.isSafeInteger(count) || count < 1)
    throw invalid("limit", `"limit" must be a positive whole number.`);
  const bounded = { limit: Math.min(count, MAX_LIMIT) };
  if (status === undefined) return bounded;
  const state = typeof status === "string" && Object.hasOwn(STATUS, status) ? STATUS[status] : undefined;
  if (!state) throw invalid("status", `"status" must be one of ${Object.keys(STATUS).join(", ")}.`);
  return { states: [state], ...bounded };
}

function decisionOf(request: FastifyRequest, kind: Decision["kind"]): Omit<Decision, "kind"> {
  const names =
    kind === "approved" ? ["arguments", "arguments_sha256", "reason"] : ["arguments_sha256", "reason"];
  const { arguments: args, arguments_sha256: hash, reason } = members(request, names);
  if (hash !== undefined && !(typeof hash === "string" && SHA256.test(hash))) {
    throw invalid("arguments_sha256", `"arguments_sha256" must be 64 hexadecimal digits.`);
  }
  if (args !== undefined && (typeof args !== "object" || args === null || Array.isArray(args))) {
    throw invalid("arguments", `"arguments" must be an object.`);
  }
  return {
    reason: textOf("reason", reason),
    ...(hash !== undefined && { argumentsHash: hash.toLowerCase() }),
    ...(args !== undefined && { arguments: spelled(request, "arguments") }),
  };
}

/** A value of the body as it was spelled: parsing would round long integers. */
function spelled({ rawBody }: FastifyRequest, member: string): string {
  const found = rawBody && rawMembers(rawBody).findLast(({ name }) => name === member);
  return found ? rawBody.toString("utf8", found.valueFrom, found.to) : "{}";
}

function members(request: FastifyRequest, known: readonly string[]): Record<string, unknown> {
  if (request.body === undefined) return {};
  const body = requireObject(request.body);
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown === undefined) return body;
  throw new GatewayError("unsupported_parameter", `The body may hold ${known.join(", ")} and nothing else.`, {
    param: unknown.slice(0, 64),
  });
}

function textOf(param: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value.length <= MAX_REASON) return value;
  throw invalid(param, `"${param}" must be a text of at most ${MAX_REASON} characters.`);
}

const invalid = (param: string, message: string) => new GatewayError("invalid_value", message, { param });
