import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { parse } from "yaml";
import { openAdmission } from "./app-admission.ts";
import { openApprovals } from "./app-approvals.ts";
import { recorder } from "./app-audit.ts";
import { openBooks } from "./app-books.ts";
import { callerNames, openKeys } from "./app-keys.ts";
import { watchReadiness } from "./app-readiness.ts";
import { openState } from "./app-state.ts";
import type { Config } from "./config.ts";
import { engineSettings } from "./config-engine.ts";
import { KeptAnswers } from "./engine/answer/kept-answers.ts";
import { SharedCalls } from "./engine/calls/shared-calls.ts";
import { ToolHealth } from "./engine/calls/tool-health.ts";
import { ChatEngine } from "./engine/chat.ts";
import type { KeyBook } from "./engine/keys/key-book.ts";
import { newId } from "./engine/new-id.ts";
import type { Stores } from "./engine/ports/stores.ts";
import { withoutCanary } from "./engine/registry/definition-faults.ts";
import type { ToolRegistry } from "./engine/registry/registry.ts";
import type { RegisteredTool } from "./engine/registry/tool-snapshot.ts";
import { UpstreamHealth } from "./engine/reply/upstream-health.ts";
import { StoredResults } from "./engine/results/stored-results.ts";
import type { RunBook } from "./engine/run-record.ts";
import { ToolIndex } from "./engine/selection/tool-index.ts";
import type { SessionBook } from "./engine/sessions/session-book.ts";
import type { SharedRuns } from "./engine/shared-runs.ts";
import type { AdmissionOptions } from "./http/admission.ts";
import { recordChanges } from "./http/audit.ts";
import type { AuthSettings } from "./http/auth.ts";
import { approvalRoutes } from "./http/routes/approvals.ts";
import { auditRoute } from "./http/routes/audit.ts";
import { chatRoute } from "./http/routes/chat.ts";
import { invokeRoute } from "./http/routes/invoke.ts";
import { keyRoutes } from "./http/routes/keys.ts";
import { opsRoutes } from "./http/routes/ops.ts";
import { passThroughRoutes } from "./http/routes/passthrough.ts";
import { resumeRoute } from "./http/routes/resume.ts";
import { runRoutes } from "./http/routes/runs.ts";
import { sessionRoutes } from "./http/routes/sessions.ts";
import { toolRoutes } from "./http/routes/tools.ts";
import { createServer } from "./http/server.ts";
import { createAddressGuard } from "./outbound/address-guard.ts";
import { createPassThrough } from "./outbound/passthrough.ts";
import { createToolTransport } from "./outbound/tool-http.ts";
import { createUpstream } from "./outbound/upstream.ts";
import { memoryCache } from "./stores/memory-cache.ts";
import { watchToolFiles } from "./stores/tool-files.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import { createTelemetry } from "./telemetry/telemetry.ts";
import type { Tracing } from "./telemetry/tracing.ts";
import { metricsOfAll } from "./workers.ts";

export interface AppOptions {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  /** Started by the caller, who also ends it: spans of the last runs are sent after the app is closed. */
  startTracing: (log: Logger) => Promise<Tracing>;
}

export interface App {
  server: FastifyInstance;
  engine: ChatEngine;
  log: Logger;
  tracing: Tracing;
  /** Says that the gateway will stop: `/readyz` answers 503 from now on. */
  retire(): void;
}

/**
 * Puts the gateway together: opens the stores, builds what the engine's ports stand for and registers the routes. Closing
 * `server` closes everything else that was opened here.
 */
export async function buildApp({ config, env, startTracing }: AppOptions): Promise<App> {
  const outbound = openOutbound(config, env);
  const { stores, log, metrics, registry } = await openState(config, (url) => outbound.guard.allowUrl(url));
  const { keys, auth } = await openKeys(config, stores, log);
  const tracing = await startTracing(log);
  const { health, upstreams } = watchHealth(metrics, registry);
  const books = openBooks(config, stores, keys);
  const cache = memoryCache(config.cache.max_bytes);
  const telemetry = createTelemetry({ logger: log, metrics, tracing, logShare: config.log_share });
  const { sessions } = books;
  const changing = openApprovals({
    config,
    stores,
    auth,
    registry,
    ...outbound,
    health,
    sessions,
    telemetry,
    log,
    env,
  });
  const made = { config, stores, keys, log, registry, outbound, health, ...changing, ...books, metrics };
  const engine = new ChatEngine({
    ...engineSettings(config),
    ...made,
    upstream: outbound.upstream,
    transport: outbound.transport,
    upstreams,
    shared: new SharedCalls(stores.cache ?? cache),
    toolIndex: new ToolIndex(),
    telemetry,
    results: storedResults(config, stores),
    now: Date.now,
    newId,
  });
  const files = await watchToolFiles(config.toolsDir, {
    check: (input) => withoutCanary(registry.check(input)),
    onChange: (tools) => registry.setFileTools(tools),
    onProblem: (problem) => log.warn({ stage: "tool_files", status: "refused", ...problem }),
  });

  const admission = openAdmission({ ...made, engine, cache });
  const server = openServer(config, auth, admission, log);
  countRequests(server, metrics);
  const readiness = watchReadiness(stores, registry, changing.approvals);
  const { ready } = readiness;
  const parts = { ...made, engine, ready };
  await registerRoutes(server, parts);
  server.addHook("onReady", () => readiness.recover());
  server.addHook("onClose", async () => {
    admission.close();
    keys.close();
  });
  server.addHook("onClose", () => files.close().then(() => closeParts(parts)));
  return {
    server,
    engine,
    log,
    tracing,
    retire() {
      readiness.retire();
      changing.approvals.stop();
    },
  };
}

function openServer(
  { host }: Config,
  auth: AuthSettings,
  admission: AdmissionOptions,
  log: Logger,
): FastifyInstance {
  return createServer({
    host,
    admission,
    auth,
    onError: (error, request) =>
      log.error({ stage: "http", status: "failed", request_id: request.id, err: error }),
  });
}

/** Ends everything, when what was begun has ended. */
async function closeParts(parts: Parts): Promise<void> {
  const { approvals, engine, writes, webhook, outbound, stores } = parts;
  approvals.stop();
  await engine.idle();
  await writes.idle();
  engine.close();
  await webhook?.close();
  await outbound.close();
  await stores.close();
}

function storedResults({ results, locale }: Config, { documents }: Stores): StoredResults {
  return new StoredResults(documents, { ttlMs: results.ttl_s * 1_000, locale });
}

/** What reaches other servers. */
function openOutbound(config: Config, env: AppOptions["env"]) {
  const guard = createAddressGuard({ network: config.tools.network, allowHosts: config.tools.allow_hosts });
  const upstream = createUpstream(config);
  const transport = createToolTransport({ policy: guard, secrets: (name) => secretOf(env, name) });
  const passThrough = createPassThrough(defaultUpstream(config));
  const close = () => Promise.all([upstream.close(), transport.close(), passThrough.close()]);
  return { guard, upstream, transport, passThrough, close };
}

interface Parts extends ReturnType<typeof openApprovals> {
  config: Config;
  stores: Stores;
  keys: KeyBook;
  log: Logger;
  engine: ChatEngine;
  registry: ToolRegistry;
  outbound: ReturnType<typeof openOutbound>;
  health: ToolHealth;
  book: RunBook;
  sharedRuns: SharedRuns | undefined;
  sessions: SessionBook;
  metrics: Metrics;
  /** Why the gateway takes no requests, if it takes none; rejects if the store does not answer. */
  ready(): Promise<string | undefined>;
}

async function registerRoutes(server: FastifyInstance, parts: Parts): Promise<void> {
  const { config, stores, keys, log, engine, registry, outbound, health, writes, approvals, book } = parts;
  const { sessions, metrics } = parts;
  const { transport, passThrough } = outbound;
  const judging = { locale: config.locale, repair: config.repair };
  const answers = new KeptAnswers(stores.documents, Date.now);
  const running = { engine, answers, compat: config.compat, approvalMode: config.approvals.mode };
  const record = recorder(stores.audit, log);
  recordChanges(server, record);
  await server.register(auditRoute, { audit: stores.audit });
  await server.register(chatRoute, running);
  await server.register(resumeRoute, { ...running, documents: stores.documents, approvals });
  await server.register(approvalRoutes, { approvals });
  await server.register(toolRoutes, { registry });
  await server.register(invokeRoute, { registry, transport, health, writes, ...judging, now: Date.now });
  await server.register(runRoutes, {
    book,
    shared: parts.sharedRuns,
    tools: registry,
    cases: judging,
    content: config.runs.content,
  });
  await server.register(sessionRoutes, {
    sessions,
    callers: () => callerNames(config, keys),
    onClosed: ({ caller, id }) => approvals.sessionClosed(caller, id),
    mayManage: ({ caller }) => caller.kind === "admin" || config.adminKey === undefined,
    now: Date.now,
  });
  await server.register(keyRoutes, {
    keys,
    taken: ["admin", "anonymous", ...config.auth.keys.map(({ name }) => name)],
    onChange: ({ action, key, id, by, request }) =>
      record({ action, actor: by, target: key, request_id: request, details: { id } }),
  });
  await server.register(passThroughRoutes, { passThrough });
  await server.register(opsRoutes, {
    ready: parts.ready,
    metrics: shownMetrics(metrics),
    openapi: openApiDocument(),
  });
}

/** What keeps failing is left alone, and counted. */
function watchHealth(metrics: Metrics, registry: ToolRegistry) {
  const health = new ToolHealth((tool) => metrics.tool(tool).breakerOpened());
  const upstreams = new UpstreamHealth((upstream) => metrics.upstreamBreakers.opened(upstream));
  const isLeftAlone = ({ definition, canary }: RegisteredTool) =>
    health.isLeftAlone(definition) || (canary !== undefined && health.isLeftAlone(canary.tool.definition));
  metrics.showLeftAlone({
    tools: () => {
      const tools = registry.snapshot().list().filter(isLeftAlone);
      return tools.map(({ definition }) => definition.name);
    },
    upstreams: () => upstreams.leftAlone,
  });
  return { health, upstreams };
}

function defaultUpstream(config: Config) {
  const [first] = config.upstreams;
  if (!first) throw new TypeError("a checked configuration has an upstream");
  return first;
}

/** `${secret:NAME}` in a tool definition: only variables that carry the prefix can be reached. */
function secretOf(env: AppOptions["env"], name: string): string | undefined {
  return env[`TOOL_SECRET_${name}`];
}

/** On the raw response: the framework's own hook is not called when the client leaves. */
function countRequests(server: FastifyInstance, metrics: Metrics): void {
  server.addHook("onRequest", (request, reply, done) => {
    reply.raw.once("close", () => {
      metrics.countRequest(request.routeOptions.url, request.method, reply.raw.statusCode);
    });
    done();
  });
}

/** One worker of several shows what all have counted. */
function shownMetrics({ contentType, render, register }: Metrics) {
  return { contentType, render: metricsOfAll(register) ?? render };
}

function openApiDocument(): object {
  return parse(readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8")) as object;
}
