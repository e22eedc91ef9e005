import { type ErrorDetail, GatewayError } from "../errors.ts";
import { compileSelect, type Select, SelectFault } from "./jmespath/compile-select.ts";
import type { JsonObject } from "./json/value.ts";
import { lintRules } from "./rules/lint-rules.ts";
import { type RuleMembers, readRules } from "./rules/read-rules.ts";
import { readStateRules, type StateMembers, type StateRules } from "./rules/state-rules.ts";
import type { ToolRules } from "./rules/tool-rules.ts";
import { compileSchema } from "./schema/compile-schema.ts";
import type { CompiledSchema } from "./schema/compiled-schema.ts";
import { SchemaRejected } from "./schema/schema-rejected.ts";
import { SchemaShape } from "./schema/schema-shape.ts";
import { READ_RESULT, type ToolDefinition, type ToolHttp } from "./tool.ts";
import { type AllowUrl, checkEndpoint, declaredProperties } from "./tool-endpoint.ts";
import { lintTool } from "./tool-lint.ts";
import type { LintNote } from "./tool-lint-note.ts";
import { lintSelect } from "./tool-lint-select.ts";
import { checkPolicy } from "./tool-policy.ts";
import { checkToolShape, memberPath } from "./tool-shape.ts";
import { checkWrite } from "./tool-write.ts";

/** A definition that may be registered. */
export interface CheckedTool {
  /** Complete: every default is filled in. */
  definition: Omit<ToolDefinition, "version">;
  schema: CompiledSchema;
  /** Absent where the tool does not say what it returns. */
  output: SchemaShape | undefined;
  /** Absent where the model is shown all of the tool's data. */
  select: Select | undefined;
  rules: ToolRules;
  stateRules: StateRules;
  lint: LintNote[];
}

export interface CheckOptions {
  /** The network policy; without one every http and https URL passes. */
  allowUrl?: AllowUrl;
  /** Stands in for `compileSchema`, so that a caller can reuse what is compiled already. */
  compile?: (parameters: JsonObject | undefined) => CompiledSchema;
}

/** Names that a lookup in an ordinary object would find although nobody put them there. */
const isPrototypeName = (name: string): boolean => name in Object.prototype;

function checkName(name: unknown): ErrorDetail[] {
  if (typeof name !== "string") return [];
  const fault = (message: string): ErrorDetail[] => [{ reason: "name_not_allowed", path: "name", message }];
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    return fault(
      "A tool name has 1 to 64 of the characters a-z, A-Z, 0-9, _ and -, as the Chat Completions API asks.",
    );
  }
  if (name === READ_RESULT) return fault(`"${name}" is the name of a tool of the gateway itself.`);
  return isPrototypeName(name) ? fault(`"${name}" cannot be the name of a tool.`) : [];
}

function checkTexts(value: Record<string, unknown>): ErrorDetail[] {
  const { description, level, cache_ttl_s } = value;
  const faults: ErrorDetail[] = [];
  // What a person approves must be what the model reads: nothing invisible, nothing that reorders the text.
  if (
    typeof description === "string" &&
    /(?![\t\n\r])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(description)
  ) {
    const message = "A description has no control characters and no marks that change the direction of text.";
    faults.push({ reason: "invalid_value", path: "description", message });
  }
  if (level !== "read" && typeof cache_ttl_s === "number" && cache_ttl_s > 0) {
    faults.push({ reason: "unsafe_cache", path: "cache_ttl_s", message: "Only a read tool can be cached." });
  }
  const own = (value["parameters"] as JsonObject | undefined)?.["properties"];
  if (value["thought"] === true && typeof own === "object" && own !== null && Object.hasOwn(own, "thought")) {
    const message = '"thought" asks for an argument of that name, which "parameters" has already.';
    faults.push({ reason: "invalid_value", path: "thought", message });
  }
  return faults;
}

/** What `compile` makes of the schema in a member, or its faults. */
function tryCompile<T>(member: string, compile: () => T): T | ErrorDetail[] {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof SchemaRejected)) throw error;
    return error.faults.map(({ path: pointer, reason, message }) => {
      const path = memberPath(`/${member}${pointer}`);
      return { reason, path, message: `"${path}" ${message}` };
    });
  }
}

function readSelect(result: ToolDefinition["result"] | undefined, faults: ErrorDetail[]): Select | undefined {
  const select = result?.select;
  if (select === undefined) return undefined;
  try {
    return compileSelect(select);
  } catch (error) {
    if (!(error instanceof SelectFault)) throw error;
    const path = "result.select";
    const message = `"${path}" cannot be used: ${error.message}, at position ${error.position}.`;
    faults.push({ reason: "invalid_select", path, message });
    return undefined;
  }
}

/** The faults that the contract calls `schema_rejected`; all others are `invalid_tool_definition`. */
const isSchemaFault = ({ reason, path }: ErrorDetail): boolean =>
  /^(?:parameters|output)\b/.test(path) ||
  ["name_not_allowed", "url_not_allowed", "template_not_allowed"].includes(reason);

/** The error for a definition with these faults. */
export function refusedDefinition(faults: readonly ErrorDetail[]): GatewayError {
  const code = faults.some(isSchemaFault) ? "schema_rejected" : "invalid_tool_definition";
  const [first] = faults;
  const others = faults.length > 1 ? ` ${faults.length - 1} more in "details".` : "";
  const param = first?.path.startsWith("parameters") ? "parameters" : first?.path;
  return new GatewayError(code, `The tool definition is refused: ${first?.message}${others}`, {
    ...(param && { param }),
    details: faults,
  });
}

/**
 * Judges a tool definition as a user wrote it.
 *
 * 1. What it returns is complete and safe to run: every member has its type and range, every default is filled in.
 * 2. A member that this version does not know, or cannot honour yet, is a fault; nothing is dropped in silence. Only `version`,
 *    `lint` and `updated_at`, which answers of the registry carry, are accepted and left out.
 * 3. `level` has no default.
 *
 * Throws `GatewayError`, `schema_rejected` or `invalid_tool_definition`, with all faults in `details`.
 */
export function checkToolDefinition(input: unknown, options: CheckOptions = {}): CheckedTool {
  const { allowUrl = () => undefined, compile = compileSchema } = options;
  const { value, faults } = checkToolShape(input);
  const isFaulty = (member: string) =>
    faults.some(
      ({ path }) => path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[`),
    );
  const parameters = isFaulty("parameters") ? undefined : (value["parameters"] as JsonObject | undefined);
  const http = isFaulty("http") ? undefined : (value["http"] as ToolHttp | undefined);
  const schema = tryCompile("parameters", () => compile(parameters));
  const returned = isFaulty("output") ? undefined : (value["output"] as JsonObject | undefined);
  const output = tryCompile("output", () => returned && new SchemaShape(returned));
  faults.push(...checkName(value["name"]), ...checkTexts(value));
  // Without knowing the parameters every template would look wrong.
  if (http && !isFaulty("parameters")) {
    faults.push(...checkEndpoint(http, declaredProperties(parameters), allowUrl));
  }
  const select = isFaulty("result")
    ? undefined
    : readSelect(value["result"] as ToolDefinition["result"] | undefined, faults);
  if (Array.isArray(output)) faults.push(...output);
  if (Array.isArray(schema)) throw refusedDefinition([...faults, ...schema]);
  // What has a fault already would only be named twice.
  const sound = Object.fromEntries(Object.entries(value).filter(([member]) => !isFaulty(member)));
  const rules = readRules(sound as RuleMembers, schema, allowUrl, faults);
  const stateRules = readStateRules(sound as StateMembers, faults);
  if (!isFaulty("parameters")) faults.push(...checkPolicy(sound));
  faults.push(...checkWrite(sound));
  if (faults.length > 0 || !http || Array.isArray(output)) throw refusedDefinition(faults);
  const definition = value as unknown as CheckedTool["definition"];
  return {
    definition,
    schema,
    output,
    select,
    rules,
    stateRules,
    lint: [...lintTool(definition), ...lintRules(definition, rules), ...lintSelect(definition, output)],
  };
}
