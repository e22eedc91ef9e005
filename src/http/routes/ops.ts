import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../errors.ts";

export interface OpsOptions {
  /** Why the gateway should get no new requests now, as a word for people without names or addresses; else `undefined`. */
  ready: () => Promise<string | undefined>;
  /** The metrics in the text format of Prometheus, and its media type. */
  metrics: { contentType: string; render: () => Promise<string> };
  /** The OpenAPI document of this API. */
  openapi: object;
}

/**
 * `/healthz` (the process answers), `/readyz` (it should get requests; else 503 `not_ready`), both for everybody;
 * `/metrics` and `/openapi.json`, for whoever may use the client API.
 */
export function opsRoutes(
  app: FastifyInstance,
  { ready, metrics, openapi }: OpsOptions,
  done: () => void,
): void {
  app.get("/healthz", { config: { access: "public" } }, (_request, reply) => reply.send({ status: "ok" }));
  app.get("/readyz", { config: { access: "public" } }, async () => {
    const reason = await ready().catch(() => "a check failed");
    if (reason === undefined) return { status: "ok" };
    throw new GatewayError("not_ready", `Not ready: ${reason}.`, { headers: { "retry-after": "1" } });
  });
  app.get("/metrics", { config: { access: "metrics" } }, async (_request, reply) => {
    const text = await metrics.render();
    return reply.type(metrics.contentType).send(text);
  });
  app.get("/openapi.json", { config: { access: "any" } }, (_request, reply) => reply.send(openapi));
  done();
}
