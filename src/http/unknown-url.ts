import type { FastifyInstance } from "fastify";
import { GatewayError } from "../errors.ts";

/**
 * Tells a path that does not exist (`unknown_url`) from a method that a path does not have (`method_not_supported`, with
 * `allow`). Learns the routes of `app` that are added after this call.
 */
export function explainUnknownUrls(app: FastifyInstance): (url: string) => GatewayError {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: toPattern(url), methods: new Set<string>() };
    routes.set(url, route);
    for (const name of [method].flat()) route.methods.add(name);
  });
  return (url) => {
    const path = url.split("?", 1)[0] ?? "";
    const allowed = new Set<string>();
    for (const { pattern, methods } of routes.values()) {
      if (pattern.test(path)) for (const method of methods) allowed.add(method);
    }
    if (allowed.size === 0) return new GatewayError("unknown_url", "There is nothing at this URL.");
    return new GatewayError("method_not_supported", "This URL does not have that method.", {
      headers: { allow: [...allowed].sort().join(", ") },
    });
  };
}

/** A route of ours holds letters, digits, `/`, `.`, `_`, `-`, `:name` and, at its end, `*`. */
function toPattern(route: string): RegExp {
  const source = route.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+").replace("*", ".*");
  return new RegExp(`^${source}$`);
}
