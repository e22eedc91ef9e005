import type { FastifyRequest } from "fastify";
import { GatewayError } from "../errors.ts";
import { type Access, ANONYMOUS, Authenticator, type AuthSettings, type Caller } from "./auth.ts";
import { FailureBrake } from "./failure-brake.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may call the route. A route that does not say is for administrators. */
    access?: Access;
  }
  interface FastifyRequest {
    /** Who sent the request; set before any handler runs. */
    caller: Caller;
  }
}

export interface AccessOptions {
  /** The address listened on. On a loopback address only loopback `Host` headers are served. */
  host: string;
  auth: AuthSettings;
}

/**
 * The one access check, for every route, by the route that matched and never by the URL.
 *
 * 1. `public` routes are for everybody; every other needs a caller that `Authenticator` admits.
 * 2. On a loopback address the `Host` must name this machine (`host_not_allowed`), or a page of a browser on it could reach the
 *    gateway under its own name by DNS rebinding.
 * 3. A page of another origin cannot use a gateway that asks for no key (`insufficient_scope`).
 * 4. After 50 refused keys in a minute from one address, further refusals there are 429; valid keys always work.
 *
 * Sets `request.caller`. Throws the refusal; where a token has to be checked first, returns a promise that rejects with it.
 */
export function createAccessCheck({
  host,
  auth,
}: AccessOptions): (request: FastifyRequest, access: Access) => void | Promise<void> {
  const authenticator = new Authenticator(auth);
  const brake = new FailureBrake();
  const loopback = isLoopback(host);

  const refused = (request: FastifyRequest, error: unknown): never => {
    if (error instanceof GatewayError && error.status === 401)
      brake.failed(request.raw.socket?.remoteAddress);
    throw error;
  };
  const admit = (request: FastifyRequest, access: Access): Caller | Promise<Caller> => {
    if (access === "public") return ANONYMOUS;
    try {
      const { authorization } = request.headers;
      const bearer = authenticator.tokenCaller(authorization);
      if (!(bearer instanceof Promise)) return authenticator.admit(access, authorization, bearer);
      return bearer
        .then((caller) => authenticator.admit(access, authorization, caller))
        .catch((error) => refused(request, error));
    } catch (error) {
      return refused(request, error);
    }
  };
  const enter = (request: FastifyRequest, caller: Caller): void => {
    if (loopback) {
      checkHost(request);
      if (caller.kind === "open") checkOrigin(request.headers.origin);
    }
    request.caller = caller;
  };

  return (request, access) => {
    const caller = admit(request, access);
    return caller instanceof Promise ? caller.then((one) => enter(request, one)) : enter(request, caller);
  };
}

function checkHost({ raw, headers }: FastifyRequest): void {
  const { host, upgrade } = headers;
  if (host === undefined || isLoopback(host.replace(/:\d+$/, ""))) return;
  // 421 came with HTTP/1.1, and a client that asks for another protocol would take it as an answer to that.
  const code = raw.httpVersionMinor === 0 || upgrade !== undefined ? "bad_request" : "host_not_allowed";
  throw new GatewayError(
    code,
    "This gateway serves only its own machine: use localhost or 127.0.0.1 as host.",
  );
}

function checkOrigin(origin: string | undefined): void {
  if (origin === undefined) return;
  const host = URL.parse(origin)?.hostname;
  if (host !== undefined && isLoopback(host)) return;
  throw new GatewayError("insufficient_scope", "Pages of other sites may not use a gateway without keys.");
}

/** `localhost`, 127.0.0.0/8 in dotted form, and ::1 with or without brackets. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}
