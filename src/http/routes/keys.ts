import { Ajv, type ErrorObject } from "ajv";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { KeyBook, KeyGrant, KeyRecord } from "../../engine/keys/key-book.ts";
import { GatewayError } from "../../errors.ts";
import "../access.ts";
import { requireObject } from "../json-body.ts";

/** Who made or revoked which key. */
export interface KeyChange {
  action: "key.created" | "key.revoked";
  /** Name of the key. */
  key: string;
  id: string;
  by: string;
  /** Id of the request. */
  request: string;
}

export interface KeyRoutesOptions {
  keys: KeyBook;
  /** Names that keys from elsewhere have. */
  taken: readonly string[];
  /** Told of every change, for the record. */
  onChange(change: KeyChange): Promise<void>;
}

const ADMIN = { config: { access: "admin" as const }, bodyLimit: 16 * 1024 };

const calls = { type: "integer", minimum: 1, maximum: 1_000_000_000 };

const valid = new Ajv({ useDefaults: true, ownProperties: true }).compile({
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,64}$" },
    role: { enum: ["client", "approver", "tools_admin", "metrics", "admin"], default: "client" },
    tools: {
      type: "array",
      maxItems: 256,
      items: { type: "string", minLength: 1, maxLength: 64 },
      default: ["*"],
    },
    max_level: { enum: ["read", "write", "admin"], default: "write" },
    approve: { type: "boolean", default: false },
    rate: {
      type: "object",
      additionalProperties: false,
      properties: { per_minute: calls, tool_calls_per_minute: calls },
    },
    expires_at: { type: "string", maxLength: 64 },
  },
});

/**
 * `POST /keys`, `GET /keys` and `DELETE /keys/{id}`: keys beside those of the settings. The key itself is in the answer to `POST` and nowhere else.
 */
export function keyRoutes(
  app: FastifyInstance,
  { keys, taken, onChange }: KeyRoutesOptions,
  done: () => void,
): void {
  app.post("/keys", ADMIN, async (request, reply) => {
    const grant = grantOf(request);
    if (taken.includes(grant.name)) {
      throw new GatewayError("key_exists", `There is a key "${grant.name}" already.`, { param: "name" });
    }
    const { record, key } = await keys.create(grant, request.caller.name);
    await onChange({
      action: "key.created",
      key: record.name,
      id: record.id,
      by: request.caller.name,
      request: request.id,
    });
    return reply
      .code(201)
      .header("location", `/keys/${record.id}`)
      .send({ ...toBody(record), key });
  });
  app.get("/keys", ADMIN, () => ({ object: "list", data: keys.list().map(toBody) }));
  app.delete<{ Params: { id: string } }>("/keys/:id", ADMIN, async (request, reply) => {
    const { id, name } = await keys.revoke(request.params.id);
    await onChange({ action: "key.revoked", key: name, id, by: request.caller.name, request: request.id });
    return reply.code(204).send();
  });
  done();
}

/** A key as this API shows it: nothing of its secret. */
function toBody({ digest: _, created_at, expires_at, ...shown }: KeyRecord) {
  const ends = expires_at === undefined ? null : new Date(expires_at).toISOString();
  return { object: "key", ...shown, created_at: new Date(created_at).toISOString(), expires_at: ends };
}

function grantOf({ body }: FastifyRequest): KeyGrant {
  const given = structuredClone(requireObject(body));
  if (!valid(given)) throw faultOf(valid.errors?.[0]);
  const { expires_at: end, ...grant } = given as unknown as Omit<KeyGrant, "expires_at"> & {
    expires_at?: string;
  };
  if (end === undefined) return grant;
  const expires_at = Date.parse(end);
  if (Number.isNaN(expires_at) || !/^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(end)) {
    throw new GatewayError("invalid_value", '"expires_at" must be a time such as 2027-01-31T00:00:00Z.', {
      param: "expires_at",
    });
  }
  return { ...grant, expires_at };
}

function faultOf(error: ErrorObject | undefined): GatewayError {
  const { keyword = "", params = {}, instancePath = "", message = "" } = error ?? {};
  const member = instancePath.slice(1).replaceAll("/", ".");
  if (keyword === "additionalProperties") {
    const name = String(params["additionalProperty"]).slice(0, 64);
    return new GatewayError("unsupported_parameter", `A key has no member "${name}".`, { param: name });
  }
  if (keyword === "required") {
    const name = String(params["missingProperty"]);
    return new GatewayError("missing_required_parameter", `"${name}" is missing.`, { param: name });
  }
  const allowed = keyword === "enum" ? `: ${(params["allowedValues"] as readonly string[]).join(", ")}` : "";
  const code = keyword === "type" ? "invalid_type" : "invalid_value";
  return new GatewayError(code, `"${member}" ${message}${allowed}.`, { param: member });
}
