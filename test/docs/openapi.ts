import { parse } from "yaml";
import { readText } from "./markdown.ts";

export interface Example {
  schema?: { $ref?: string };
  example?: unknown;
}

export interface Response {
  $ref?: string;
  content?: Record<string, Example>;
}

export interface Operation {
  operationId: string;
  security?: object[];
  parameters?: { $ref?: string; name?: string; in?: string }[];
  requestBody?: { $ref?: string; content?: Record<string, Example> };
  responses: Record<string, Response>;
}

export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, unknown> & { parameters?: Operation["parameters"] }>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, Response>;
    parameters: Record<string, { name: string; in: string }>;
    requestBodies: Record<string, { content: Record<string, Example> }>;
    [kind: string]: Record<string, object>;
  };
}

/** `openapi.yaml` as the gateway serves it. */
export const DOCUMENT = parse(readText("openapi.yaml")) as OpenApi;

const METHODS = ["get", "put", "post", "patch", "delete", "options"] as const;

/** Every operation with its method in capitals and its path. */
export function operations(): { method: string; path: string; operation: Operation }[] {
  return Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(),
      path,
      operation: item[method] as Operation,
    })),
  );
}

/** What a reference inside the document points to. Throws where there is nothing. */
export function resolve(ref: string): unknown {
  const steps = /^#\/(.+)$/.exec(ref)?.[1]?.split("/") ?? [];
  const target = steps.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    DOCUMENT,
  );
  if (steps.length === 0 || target === undefined) throw new Error(`openapi.yaml: ${ref} points to nothing.`);
  return target;
}
