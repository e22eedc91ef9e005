import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../src/errors.ts";
import type { AuthSettings } from "../../src/http/auth.ts";
import { requireObject } from "../../src/http/json-body.ts";
import { createServer, type EdgeLimits } from "../../src/http/server.ts";

export const KEYED: AuthSettings = {
  adminKey: "admin-key",
  mode: "keys",
  keys: [{ name: "app", key: "client-key", max_level: "write", tools: ["get_*"] }],
};
export const OPEN: AuthSettings = { adminKey: undefined, mode: "none", keys: [] };

export interface Edge {
  app: FastifyInstance;
  /** What `onError` was told. */
  errors: unknown[];
}

/** The server with a few routes that stand for the real ones. */
export function createEdge(
  auth: AuthSettings = KEYED,
  limits: Partial<EdgeLimits> = {},
  host = "127.0.0.1",
): Edge {
  const errors: unknown[] = [];
  const app = createServer({ host, auth, onError: (error) => errors.push(error), limits });
  app.post("/v1/chat/completions", { config: { access: "client" } }, (request, reply) => {
    const { model, messages } = requireObject(request.body);
    if (typeof model !== "string") throw new GatewayError("invalid_type", "model", { param: "model" });
    if (!Array.isArray(messages)) throw new GatewayError("invalid_type", "messages");
    if (messages.length === 0) throw new GatewayError("invalid_value", "messages");
    reply.send({ caller: request.caller, bytes: request.rawBody?.length });
  });
  app.get("/v1/models", { config: { access: "client" } }, () => ({ data: [] }));
  app.get("/healthz", { config: { access: "public" } }, () => ({ status: "ok" }));
  app.get("/readyz", { config: { access: "public" } }, () => ({ status: "ok" }));
  app.post("/tools", (request) => requireObject(request.body));
  app.get("/tools", () => ({ data: [] }));
  app.delete("/tools/:name", () => ({ deleted: true }));
  app.get<{ Params: { name: string } }>("/tools/:name", ({ params }) => {
    throw new GatewayError("tool_not_found", `There is no tool ${params.name}.`);
  });
  app.get("/broken", { config: { access: "public" } }, () => {
    throw new TypeError("secret detail");
  });
  return { app, errors };
}

export const CHAT = '{"model":"m","messages":[{"role":"user","content":"hi"}]}';

/** A chat request as it stands on the wire; `headers` are whole lines. */
export function chat(body: string, ...headers: string[]): string {
  const lines = ["POST /v1/chat/completions HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer client-key"];
  return [
    ...lines,
    "Content-Type: application/json",
    ...headers,
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}
