import { Ajv, type ErrorObject, type SchemaObject } from "ajv";
import type { ErrorDetail } from "../errors.ts";
import { RULE_SHAPES } from "./rules/rule-shape.ts";
import { step, stepsOf } from "./schema/pointer.ts";
import { POLICY_SHAPES } from "./tool-policy.ts";
import { WRITE_SHAPES } from "./tool-write.ts";

const integer = (minimum: number, maximum: number, fallback?: number): SchemaObject => ({
  type: "integer",
  minimum,
  maximum,
  ...(fallback !== undefined && { default: fallback }),
});

const words: SchemaObject = {
  type: "array",
  maxItems: 64,
  items: { type: "string", minLength: 1, maxLength: 64 },
  default: [],
};

const templates = (maxProperties: number): SchemaObject => ({
  type: "object",
  maxProperties,
  additionalProperties: { type: "string", maxLength: 4096 },
  default: {},
});

const per: SchemaObject = { enum: ["tool", "key", "user", "session"], default: "tool" };
const calls = integer(1, 1_000_000_000);

const LIMITS: Readonly<Record<string, SchemaObject>> = {
  max_calls_per_run: integer(1, 10_000),
  rate: {
    type: "object",
    additionalProperties: false,
    required: ["per_minute"],
    properties: { per_minute: calls, per },
  },
  quota: {
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    anyOf: [{ required: ["per_day"] }, { required: ["per_month"] }],
    properties: { per_day: calls, per_month: calls, per },
  },
};

const HTTP: SchemaObject = {
  type: "object",
  additionalProperties: false,
  required: ["method", "url"],
  properties: {
    method: { enum: ["GET", "POST", "PUT", "PATCH", "DELETE"] },
    url: { type: "string", maxLength: 4096 },
    query: templates(64),
    headers: templates(32),
    body: { enum: ["json", "form", "none"], default: "json" },
  },
};

const SHAPE: SchemaObject = {
  type: "object",
  additionalProperties: false,
  required: ["name", "http", "level"],
  properties: {
    name: { type: "string" },
    description: { type: "string", maxLength: 16_384, default: "" },
    parameters: { type: "object" },
    output: { type: "object" },
    http: HTTP,
    level: { enum: ["read", "write", "admin"] },
    confirm: { enum: ["auto", "never"], default: "auto" },
    timeout_ms: integer(1, 300_000, 10_000),
    retry: integer(0, 10, 2),
    backoff_ms: integer(0, 60_000, 200),
    parallel_safe: { type: "boolean", default: false },
    partial_ok: { type: "boolean", default: false },
    cache_ttl_s: integer(0, 2_592_000, 0),
    shared: { type: "boolean", default: false },
    ...LIMITS,
    result: {
      type: "object",
      additionalProperties: false,
      default: {},
      properties: {
        max_bytes: integer(1, 1_048_576, 16_384),
        overflow: { enum: ["truncate", "externalize"], default: "truncate" },
        select: { type: "string" },
      },
    },
    ...RULE_SHAPES,
    ...POLICY_SHAPES,
    ...WRITE_SHAPES,
    deprecated: {
      type: "object",
      additionalProperties: false,
      properties: {
        use: { type: "string", minLength: 1, maxLength: 64 },
        message: { type: "string", minLength: 1, maxLength: 300 },
      },
    },
    canary: {
      type: "object",
      additionalProperties: false,
      required: ["version", "percent"],
      properties: {
        version: integer(1, 1_000_000_000),
        percent: { type: "number", minimum: 0, maximum: 100 },
      },
    },
    thought: { type: "boolean", default: false },
    tags: words,
    keywords: words,
    examples: { type: "array", maxItems: 20, default: [] },
    // What an answer of the registry adds, so that a definition that was read can be sent back as it is.
    version: true,
    lint: true,
    updated_at: true,
  },
};

const valid = new Ajv({
  allErrors: true,
  useDefaults: true,
  ownProperties: true,
  verbose: true,
  allowUnionTypes: true,
}).compile(SHAPE);

/** A JSON pointer as errors name a member: `/http/headers/x-a` is `http.headers.x-a`, `/tags/0` is `tags[0]`. */
export function memberPath(pointer: string): string {
  return stepsOf(pointer).reduce((at, name) => {
    if (/^\d+$/.test(name)) return `${at}[${name}]`;
    return at === "" ? name : `${at}.${name}`;
  }, "");
}

function unknownMember(path: string): ErrorDetail {
  return { reason: "unknown_member", path, message: `There is no member "${path}" in a tool definition.` };
}

function toFault(error: ErrorObject): ErrorDetail {
  const { keyword, params, instancePath } = error;
  if (keyword === "additionalProperties") {
    return unknownMember(memberPath(step(instancePath, String(params["additionalProperty"]))));
  }
  if (keyword === "required") {
    const path = memberPath(step(instancePath, String(params["missingProperty"])));
    return { reason: "missing", path, message: `"${path}" is missing.` };
  }
  const path = memberPath(instancePath);
  const subject = path === "" ? "A tool definition" : `"${path}"`;
  if (keyword === "enum") {
    const allowed = (params["allowedValues"] as readonly string[]).join(", ");
    return { reason: "invalid_value", path, message: `${subject} must be one of: ${allowed}.` };
  }
  return {
    reason: keyword === "type" ? "invalid_type" : "invalid_value",
    path,
    message: `${subject} ${error.message}.`,
  };
}

/** A definition with defaults, as far as its members have the right type; what has not is named by a fault. */
export interface ShapedTool {
  value: Record<string, unknown>;
  faults: ErrorDetail[];
}

/**
 * The form of a tool definition: members, types and ranges. `value` is a copy of the input with the defaults filled in and without
 * `version`, `lint` and `updated_at`; `faults` are all that were found. The grammar of names, URLs and templates and the schema
 * in `parameters` are not judged here.
 */
export function checkToolShape(input: unknown): ShapedTool {
  const copy: unknown = structuredClone(input);
  const faults = valid(copy) ? [] : (valid.errors ?? []).map(toFault);
  if (copy === null || typeof copy !== "object" || Array.isArray(copy)) return { value: {}, faults };
  const {
    version: _version,
    lint: _lint,
    updated_at: _updatedAt,
    ...value
  } = copy as Record<string, unknown>;
  return { value, faults };
}
