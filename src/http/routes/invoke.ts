import type { FastifyInstance } from "fastify";
import { rawMembers } from "../../core/json/raw-object.ts";
import { type InvokeDeps, invokeTool } from "../../engine/calls/invoke.ts";
import { newId } from "../../engine/new-id.ts";
import type { ToolRegistry } from "../../engine/registry/registry.ts";
import { GatewayError } from "../../errors.ts";
import { requireObject } from "../json-body.ts";
import { watchClient } from "../sse-sink.ts";

/**
 * `POST /tools/{name}/invoke` with `{arguments, dry_run}`: sends a call through the gates and, unless `dry_run`, to the tool, as if
 * a model had made it. Answers the result envelope and what each gate said.
 */
export function invokeRoute(
  app: FastifyInstance,
  deps: Omit<InvokeDeps, "newId" | "find"> & { registry: ToolRegistry },
  done: () => void,
): void {
  app.post<{ Params: { name: string } }>(
    "/tools/:name/invoke",
    { config: { access: "tools", work: true } },
    async (request, reply) => {
      const tool = deps.registry.snapshot().get(request.params.name);
      if (!tool)
        throw new GatewayError("tool_not_found", `There is no tool "${request.params.name.slice(0, 64)}".`);
      const { arguments: args = {}, dry_run = false } = requireObject(request.body);
      if (typeof dry_run !== "boolean")
        throw new GatewayError("invalid_type", `"dry_run" must be a boolean.`, { param: "dry_run" });
      const raw = typeof args === "string" ? args : spelled(request.rawBody, "arguments");
      const stop = new AbortController();
      watchClient(reply, stop);
      const { get: find } = deps.registry.snapshot();
      return invokeTool({ ...deps, newId, find }, tool, raw, dry_run, stop.signal);
    },
  );
  done();
}

/** The last `member` of a body, as it was spelled: parsing would round long integers. Without it, an empty object. */
function spelled(body: Buffer | undefined, member: string): string {
  const found = body && rawMembers(body).findLast(({ name }) => name === member);
  return found ? body.toString("utf8", found.valueFrom, found.to) : "{}";
}
