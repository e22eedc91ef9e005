import { Pool } from "undici";
import { matchesGlob } from "../engine/offer.ts";
import type {
  ReplyHandler,
  Upstream,
  UpstreamCall,
  UpstreamRequest,
  UpstreamTarget,
} from "../engine/ports/upstream.ts";
import { startCall } from "./upstream-call.ts";

/** One upstream as it is configured. */
export interface UpstreamSettings {
  name: string;
  base_url: string;
  api_key: string | undefined;
  timeouts_ms: { connect: number; first_byte: number; idle: number };
  retry: number;
  fallback: readonly string[];
}

export interface RoutingSettings {
  /** The first is the default. */
  upstreams: readonly UpstreamSettings[];
  /** Globs over the request's model; the first that matches counts. */
  models: readonly ({ match: string; upstream: string } & Reading)[];
}

/** How calls are read and tools are offered. */
type Reading = Pick<UpstreamTarget, "protocol" | "tools" | "reasoning">;

const MIN_SCRUBBED = 8;

/** Chat completions over undici: one pool of kept connections for each upstream. */
export function createUpstream({
  upstreams,
  models,
}: RoutingSettings): Upstream & { close(): Promise<void> } {
  const pools = new Map(upstreams.map((settings) => [settings.name, openPool(settings)]));
  const byName = new Map(upstreams.map((settings) => [settings.name, settings]));
  const target = (settings: UpstreamSettings, reading: Reading) =>
    createTarget(settings, pools.get(settings.name) as Pool, reading);
  const routes = models.map((model) => ({ ...model, targets: chain(model.upstream, model) }));
  const fallbackRoute = chain(upstreams[0]?.name ?? "", {
    protocol: "native",
    tools: "native",
    reasoning: "tagged",
  });

  function chain(name: string, reading: Reading): UpstreamTarget[] {
    const first = byName.get(name);
    if (!first) return [];
    const rest = first.fallback.flatMap((other) => byName.get(other) ?? []);
    return [first, ...rest].map((settings) => target(settings, reading));
  }

  return {
    route(model) {
      return routes.find((route) => matchesGlob(route.match, model))?.targets ?? fallbackRoute;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

function openPool({ base_url, timeouts_ms }: UpstreamSettings): Pool {
  return new Pool(new URL(base_url).origin, {
    connections: null,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: timeouts_ms.connect },
    // The call's own watch covers both, to the millisecond and with the pauses of slow clients taken out.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 60_000,
    keepAliveMaxTimeout: 300_000,
  });
}

function createTarget(settings: UpstreamSettings, pool: Pool, reading: Reading): UpstreamTarget {
  const { name, retry, api_key, timeouts_ms } = settings;
  const path = `${new URL(settings.base_url).pathname.replace(/\/$/, "")}/chat/completions`;
  const own = api_key === undefined ? undefined : `Bearer ${api_key}`;
  return {
    name,
    retry,
    protocol: reading.protocol,
    tools: reading.tools,
    reasoning: reading.reasoning,
    send: (request: UpstreamRequest, handler: ReplyHandler): UpstreamCall =>
      startCall(
        pool,
        { path, headers: headersOf(request, own), body: request.body, timeouts: timeouts_ms },
        handler,
      ),
    scrub: (text) =>
      api_key && api_key.length >= MIN_SCRUBBED ? text.replaceAll(api_key, "[redacted]") : text,
  };
}

function headersOf(request: UpstreamRequest, own: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: request.stream ? "text/event-stream" : "application/json",
    "user-agent": "toolweir",
    traceparent: request.traceparent,
  };
  const authorization = own ?? request.authorization;
  if (authorization !== undefined) headers["authorization"] = authorization;
  return headers;
}
