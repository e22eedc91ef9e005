import type { FastifyInstance, FastifyRequest } from "fastify";
import type { LintNote } from "../../core/tool-lint-note.ts";
import type { Guard, Precondition, ToolRegistry } from "../../engine/registry/registry.ts";
import type { RegisteredTool } from "../../engine/registry/tool-snapshot.ts";
import { GatewayError } from "../../errors.ts";
import "../access.ts";
import { parseJson, requireObject } from "../json-body.ts";
import { checkNarrowing } from "./tools-admin.ts";

/** A definition is a page of text; more is a mistake. */
const BODY_LIMIT = 256 * 1024;

const TOOLS = { config: { access: "tools" as const }, bodyLimit: BODY_LIMIT };

interface Named {
  Params: { name: string };
}

/** A tool as this API shows it. */
function toBody({ definition, lint, updatedAt }: Pick<RegisteredTool, "definition" | "lint" | "updatedAt">) {
  return { ...definition, lint, updated_at: new Date(updatedAt).toISOString() };
}

/** The same for a tool in force, with all advice about it. */
const toAdvised =
  (registry: ToolRegistry) =>
  (tool: RegisteredTool, changes: readonly LintNote[] = []) =>
    toBody({ ...tool, lint: [...registry.advice(tool), ...changes] });

const entityTags = (header: string): readonly string[] => header.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];

/** `If-Match` and `If-None-Match` (RFC 9110, section 13.1). A weak tag never matches: changes need the very version. */
function precondition({ headers }: FastifyRequest): Precondition {
  const match = headers["if-match"];
  const noneMatch = headers["if-none-match"];
  const isAmong = (etag: string | undefined, header: string) =>
    etag !== undefined && entityTags(header).some((tag) => tag === "*" || tag === etag);
  return (etag) =>
    (match === undefined || isAmong(etag, match)) && (noneMatch === undefined || !isAmong(etag, noneMatch));
}

/** What a definition would be answered with, without storing it. */
async function lint(registry: ToolRegistry, input: unknown) {
  try {
    const checked = await registry.judge(input);
    const lint = [...registry.advice(checked), ...registry.changesOf(checked.definition)];
    return { valid: true, faults: [], lint };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { valid: false, faults: error.options.details ?? [], lint: [] };
  }
}

function readRoutes(app: FastifyInstance, registry: ToolRegistry): void {
  const show = toAdvised(registry);
  app.get("/tools", TOOLS, ({ query }) => {
    const { tag } = query as { tag?: unknown };
    if (tag !== undefined && typeof tag !== "string")
      throw new GatewayError("invalid_value", '"tag" must be given once.', { param: "tag" });
    const tools = registry.snapshot().list();
    const wanted =
      tag === undefined ? tools : tools.filter(({ definition }) => definition.tags.includes(tag));
    return { object: "list", data: wanted.map((tool) => show(tool)) };
  });
  app.get<Named>("/tools/:name", TOOLS, (request, reply) => {
    const tool = registry.snapshot().get(request.params.name);
    if (!tool) throw new GatewayError("tool_not_found", "There is no tool of this name.", { param: "name" });
    return reply.header("etag", tool.etag).send(show(tool));
  });
  app.get<Named>("/tools/:name/versions", TOOLS, async (request) => {
    const versions = await registry.versions(request.params.name);
    return {
      object: "list",
      data: versions.map(({ definition, updatedAt }) => toBody({ definition, updatedAt, lint: [] })),
    };
  });
  app.post("/tools/lint", TOOLS, (request) => lint(registry, requireObject(request.body)));
}

/** Whoever keeps the tools may not widen what they can do. */
const guardFor = ({ caller }: FastifyRequest): Guard | undefined =>
  caller.kind === "tools_admin" ? checkNarrowing : undefined;

function writeRoutes(app: FastifyInstance, registry: ToolRegistry): void {
  const show = toAdvised(registry);
  app.post("/tools", TOOLS, async (request, reply) => {
    const { tool } = await registry.create(requireObject(request.body), guardFor(request));
    const { name } = tool.definition;
    return reply
      .code(201)
      .headers({ etag: tool.etag, location: `/tools/${name}` })
      .send(show(tool));
  });
  app.put<Named>("/tools/:name", TOOLS, async (request, reply) => {
    const input = requireObject(request.body);
    const { tool, created, changes } = await registry.put(
      request.params.name,
      input,
      precondition(request),
      guardFor(request),
    );
    return reply
      .code(created ? 201 : 200)
      .header("etag", tool.etag)
      .send(show(tool, changes));
  });
  app.patch<Named>("/tools/:name", TOOLS, async (request, reply) => {
    const patch = requireObject(request.body);
    const { tool, changes } = await registry.patch(
      request.params.name,
      patch,
      precondition(request),
      guardFor(request),
    );
    return reply.header("etag", tool.etag).send(show(tool, changes));
  });
  app.post<Named>("/tools/:name/rollback", TOOLS, async (request, reply) => {
    const { version } = requireObject(request.body);
    if (typeof version !== "number" || !Number.isSafeInteger(version)) {
      throw new GatewayError("invalid_type", '"version" must be the number of a version.', {
        param: "version",
      });
    }
    const { tool, changes } = await registry.rollback(
      request.params.name,
      version,
      precondition(request),
      guardFor(request),
    );
    return reply.header("etag", tool.etag).send(show(tool, changes));
  });
  app.delete<Named>("/tools/:name", TOOLS, async (request, reply) => {
    await registry.delete(request.params.name, precondition(request));
    return reply.code(204).send();
  });
}

/**
 * The management API of the tools, a Fastify plugin. Every route is for whoever keeps the tools; bodies are JSON, at most 256 KiB, and `PATCH`
 * is a JSON Merge Patch (RFC 7396). Answers carry the definition with `version`, `lint` and `updated_at`, and an `ETag`.
 */
export function toolRoutes(app: FastifyInstance, deps: { registry: ToolRegistry }, done: () => void): void {
  const type = "application/merge-patch+json";
  app.addContentTypeParser(type, { parseAs: "buffer" }, async (_request: FastifyRequest, body: Buffer) =>
    parseJson(body),
  );
  readRoutes(app, deps.registry);
  writeRoutes(app, deps.registry);
  done();
}
