import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that an exporter sent. */
export interface Export {
  path: string;
  contentType: string;
  body: Buffer;
}

/** A collector on a loopback port that keeps what it gets and answers as the OTLP standard asks. */
export async function startSink() {
  const exports: Export[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const contentType = request.headers["content-type"] ?? "";
    exports.push({ path: request.url ?? "", contentType, body: Buffer.concat(parts) });
    response.writeHead(200, { "content-type": contentType }).end(contentType.includes("json") ? "{}" : "");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    exports,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A span as OTLP in JSON spells it. */
export interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: { name: string; value: unknown }[];
}

/** The spans of JSON exports by name, with plain attributes, and the name of the service they came from. */
export function readSpans(exports: readonly Export[]) {
  const resources = exports.flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans);
  const plain = (attributes: { key: string; value: Record<string, unknown> }[]) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  const spans = resources.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap((scope: { spans: unknown[] }) => scope.spans),
  );
  return {
    service: plain(resources[0].resource.attributes)["service.name"],
    spans: new Map<string, ReturnType<typeof readSpan>>(spans.map((span) => [span.name, readSpan(span)])),
  };

  function readSpan({ attributes, ...span }: SentSpan & { attributes: never[] }) {
    return { ...span, attributes: plain(attributes) };
  }
}
