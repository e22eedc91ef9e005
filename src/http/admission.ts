import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Rates } from "../engine/rates/rates.ts";
import { GatewayError } from "../errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route begins work: it is counted for the caller's rate, and refused while the gateway has too much. */
    work?: boolean;
  }
}

/** Why a request was not admitted. */
export type RefusedBy = "rate" | "load";

export interface AdmissionOptions {
  rates: Pick<Rates, "admitKey" | "bounds">;
  load(): "normal" | "tight" | "shedding" | "cutting";
  /** Why nothing can be begun at all, if it cannot. */
  obstacle(): GatewayError | undefined;
  onRefused(by: RefusedBy): void;
}

/**
 * Admits requests that begin work, before their bodies are read: first by the rate of their key, then by what the gateway can bear. While memory
 * is tight connections are closed after their answer. Other requests, as for decisions and health, are always answered.
 */
export function admitWork(
  app: FastifyInstance,
  { rates, load, obstacle, onRefused }: AdmissionOptions,
): void {
  const bear = (reply: FastifyReply) => {
    const now = load();
    if (now === "normal") return;
    reply.header("connection", "close");
    if (now !== "tight") throw overloaded();
  };
  const admit = async ({ caller }: FastifyRequest, reply: FastifyReply) => {
    reply.headers(await rates.admitKey(caller.name));
    bear(reply);
  };
  // After every other check, and after the answer has the names of its run.
  app.addHook("preParsing", (request, reply, _payload, done) => {
    if (!request.routeOptions.config.work) return done();
    const objection = obstacle();
    if (objection) return done(objection);
    if (load() === "normal" && !rates.bounds(request.caller.name)) return done();
    admit(request, reply).then(
      () => done(),
      (error) => {
        if (error instanceof GatewayError) onRefused(error.status === 429 ? "rate" : "load");
        done(error);
      },
    );
  });
}

/** Those who are refused together should not come back together. */
function overloaded(): GatewayError {
  const seconds = 1 + Math.floor(Math.random() * 5);
  return new GatewayError(
    "server_is_overloaded",
    `The gateway has too much to do. Try again in ${seconds} s.`,
    {
      headers: { "retry-after": String(seconds), "x-should-retry": "true" },
    },
  );
}
