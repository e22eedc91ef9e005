import type { JsonObject } from "./json/value.ts";

/** What a tool may do: `read` runs freely, `write` needs an approval, `admin` needs an elevated session too. */
export type ToolLevel = "read" | "write" | "admin";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** How a call becomes an HTTP request. `{param}` in `url` and `query` is replaced by that argument, percent-encoded. */
export interface ToolHttp {
  method: HttpMethod;
  url: string;
  query: Readonly<Record<string, string>>;
  /** Header values may hold `{param}` and `${secret:NAME}` (environment variable `TOOL_SECRET_NAME`, or `NAME`). */
  headers: Readonly<Record<string, string>>;
  /** How the arguments that stand nowhere else are sent. */
  body: "json" | "form" | "none";
}

/** A registered tool, checked, with every default filled in. Member names are those of the REST API. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments; absent means a tool without parameters. */
  parameters?: JsonObject;
  http: ToolHttp;
  level: ToolLevel;
  /** `never` lifts the approval that a `write` tool needs otherwise. */
  confirm: "auto" | "never";
  timeout_ms: number;
  /** Further attempts after a transient failure. */
  retry: number;
  backoff_ms: number;
  parallel_safe: boolean;
  partial_ok: boolean;
  cache_ttl_s: number;
  max_calls_per_run?: number;
  result: { max_bytes: number; overflow: "truncate" };
  tags: readonly string[];
  keywords: readonly string[];
  examples: readonly unknown[];
  /** Counts up from 1 with every change of this name; never given twice, also not after a deletion. */
  version: number;
}
