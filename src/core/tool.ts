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

/** A step that brings a parameter into the form that a tool wants: its name, or its name with its option. */
export type NormalizeStep = string | Readonly<Record<string, unknown>>;

/** What the model is told, in one language or in each. */
export type RuleMessage = string | Readonly<{ en?: string; zh?: string }>;

/** A condition in CEL that a call must meet, where `when` holds. */
export interface ExpressionRule {
  name?: string;
  when?: string;
  check: string;
  message: RuleMessage;
}

/** A condition in CEL on the state of the session, which must hold before a call runs. */
export interface Precondition {
  name?: string;
  check: string;
  message?: RuleMessage;
}

/** A service that is asked whether a call may run, where `when` holds. */
export interface RemoteRule {
  name?: string;
  when?: string;
  url: string;
  /** Values may hold `${secret:NAME}`. */
  headers?: Readonly<Record<string, string>>;
  timeout_ms?: number;
  /** In place of the service's own message. */
  message?: RuleMessage;
}

/** Which characters strings may hold, and which of them are relative file paths. Parameters as in `normalize`. */
export interface ToolGuard {
  /** Names of character classes and other characters, separated by spaces. */
  allow?: string;
  except?: readonly string[];
  paths?: readonly string[];
}

/**
 * What can go wrong with a call, by what may be done about it. `argument`: a gate refused its arguments, or no request could be made
 * of them. `business`, `permission`, `transient`, `permanent`, `timeout`: what the tool or the way to it said. `deprecated`: the
 * call is good, but uses a parameter that the schema marks as deprecated.
 */
export type ErrorClass =
  | "argument"
  | "business"
  | "permission"
  | "transient"
  | "permanent"
  | "timeout"
  | "deprecated";

/** `tell` the model, ask the `fallback` tool, `fail` the run, or `log` it and go on as if nothing were. */
export type PolicyAction = "tell" | "fallback" | "fail" | "log";

/** What happens by error class; classes that are not named follow the default. */
export type ToolPolicy = Readonly<Partial<Record<ErrorClass, PolicyAction>>>;

/** The tool that is asked in place of one that failed. */
export interface ToolFallback {
  tool: string;
  /** Its arguments: `"{name}"` is that argument of the failed call, everything else is sent as it is. Absent: the same arguments. */
  arguments?: JsonObject;
}

/** The name of the tool with which a model reads results that are stored; it cannot be registered. */
export const READ_RESULT = "read_result";
/** That a tool should not be used any more. */
export interface ToolDeprecation {
  /** The tool to use instead. */
  use?: string;
  /** What else the model is told. */
  message?: string;
}

/** An earlier version that a share of the sessions gets instead. */
export interface ToolCanary {
  version: number;
  /** Of the sessions, from 0 to 100. */
  percent: number;
}

/** Whose calls of a tool are counted together: everybody's, or those of one key, user or session. */
export type ToolLimitScope = "tool" | "key" | "user" | "session";

/** Calls of a tool in a minute. */
export interface ToolRate {
  per_minute: number;
  per: ToolLimitScope;
}

/** Calls of a tool in a day and in a calendar month, in UTC. */
export interface ToolQuota {
  per_day?: number;
  per_month?: number;
  per: ToolLimitScope;
}

/** A registered tool, checked, with every default filled in. Member names are those of the REST API. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments; absent means a tool without parameters. */
  parameters?: JsonObject;
  /** JSON Schema of the `data` that the tool returns. */
  output?: JsonObject;
  http: ToolHttp;
  level: ToolLevel;
  /** `never` lifts the approval that a `write` tool needs otherwise. */
  confirm: "auto" | "never";
  /** The tool remembers the key that a call carries, and does nothing twice under one key. */
  idempotency?: { mode: "key"; header?: string; ttl_s: number };
  /** Statuses with which the tool says that it has not done anything. */
  errors_mean_not_done?: readonly number[];
  /** The key that asked for a call may not approve it. */
  four_eyes?: boolean;
  timeout_ms: number;
  /** Further attempts after a transient failure. */
  retry: number;
  backoff_ms: number;
  parallel_safe: boolean;
  partial_ok: boolean;
  /** Seconds for which a result of a `read` tool is given again; 0 for not at all. */
  cache_ttl_s: number;
  /** The answer does not depend on who asks, so results are given to every caller. */
  shared: boolean;
  max_calls_per_run?: number;
  rate?: ToolRate;
  quota?: ToolQuota;
  /** `select` is JMESPath: what the model is shown of the data. */
  result: { max_bytes: number; overflow: "truncate" | "externalize"; select?: string };
  /** By parameter: `city`, `stops[].city`, `range.from`. */
  normalize?: Readonly<Record<string, readonly NormalizeStep[]>>;
  /** Values of optional parameters that a call leaves out. */
  defaults?: JsonObject;
  rules?: readonly (ExpressionRule | RemoteRule)[];
  guard?: ToolGuard;
  requires?: readonly Precondition[];
  /** By key of the session's state, an expression in CEL for its value after a call that succeeded. */
  sets?: Readonly<Record<string, string>>;
  /** What is asked when this tool fails. */
  fallback?: ToolFallback;
  policy?: ToolPolicy;
  deprecated?: ToolDeprecation;
  canary?: ToolCanary;
  /** The model is asked for a `thought` beside the arguments; it is recorded and not sent. */
  thought: boolean;
  tags: readonly string[];
  keywords: readonly string[];
  examples: readonly unknown[];
  /** Counts up from 1 with every change of this name; never given twice, also not after a deletion. */
  version: number;
}
