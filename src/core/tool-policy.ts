import type { SchemaObject } from "ajv";
import type { ErrorDetail } from "../errors.ts";
import { carrySpelling } from "./json/spelling.ts";
import { type JsonObject, type JsonValue, setMember } from "./json/value.ts";
import { nearest } from "./schema/nearest.ts";
import type { ErrorClass, PolicyAction, ToolDefinition, ToolFallback } from "./tool.ts";
import { declaredProperties, placeholders } from "./tool-endpoint.ts";
import { type LintNote, note } from "./tool-lint-note.ts";

/** What the model could not be given by this tool another may have; a `business` error is an answer. */
const STANDS_IN: ReadonlySet<ErrorClass> = new Set(["permission", "transient", "permanent", "timeout"]);

const failure: SchemaObject = { enum: ["tell", "fallback", "fail"] };

/** The members of a definition that say what happens after an error. */
export const POLICY_SHAPES: Readonly<Record<string, SchemaObject>> = {
  fallback: {
    type: "object",
    additionalProperties: false,
    required: ["tool"],
    properties: {
      tool: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" },
      arguments: { type: "object", maxProperties: 64 },
    },
  },
  policy: {
    type: "object",
    additionalProperties: false,
    properties: {
      argument: { enum: ["tell", "fail"] },
      business: failure,
      permission: failure,
      transient: failure,
      permanent: failure,
      timeout: failure,
      deprecated: { enum: ["log", "tell", "fail"] },
    },
  },
};

/** What a tool's policy says of an error class. */
export function actionFor({ policy, fallback }: PolicyMembers, kind: ErrorClass): PolicyAction {
  const said = policy?.[kind];
  if (said !== undefined) return said;
  if (kind === "deprecated") return "log";
  return fallback !== undefined && STANDS_IN.has(kind) ? "fallback" : "tell";
}

type PolicyMembers = Pick<ToolDefinition, "policy" | "fallback">;
type Named = PolicyMembers & Pick<ToolDefinition, "name" | "parameters">;

/** The arguments of the fallback for a call of the tool that failed. What the call left out is left out. */
export function fallbackArguments(fallback: ToolFallback, args: JsonObject): JsonObject {
  if (fallback.arguments === undefined) return args;
  const mapped: JsonObject = {};
  for (const [name, value] of Object.entries(fallback.arguments)) {
    const from = wholePlaceholder(value);
    if (from === undefined) setMember(mapped, name, value);
    else if (Object.hasOwn(args, from)) {
      setMember(mapped, name, args[from] ?? null);
      carrySpelling(args, from, mapped, name);
    }
  }
  return mapped;
}

/** `name` of a text that is `{name}` and nothing else. */
function wholePlaceholder(value: JsonValue): string | undefined {
  if (typeof value !== "string") return undefined;
  const [name] = placeholders(value);
  return name !== undefined && value === `{${name}}` ? name : undefined;
}

/** What is wrong with `policy` and `fallback` as far as the definition alone tells. */
export function checkPolicy({ policy, fallback, parameters }: Partial<Named>): ErrorDetail[] {
  const unnamed = fallback ? [] : Object.entries(policy ?? {}).filter(([, action]) => action === "fallback");
  const declared = declaredProperties(parameters);
  return [
    ...unnamed.map(([kind]) => {
      const message = `"policy.${kind}" is "fallback", but the definition names no "fallback".`;
      return { reason: "fallback_missing", path: `policy.${kind}`, message };
    }),
    ...Object.entries(fallback?.arguments ?? {}).flatMap(([name, value]) =>
      checkArgument(`fallback.arguments.${name}`, value, declared),
    ),
  ];
}

function checkArgument(path: string, value: JsonValue, declared: ReadonlySet<string>): ErrorDetail[] {
  const [used] = typeof value === "string" ? placeholders(value) : [];
  if (used === undefined) return [];
  const refuse = (message: string): ErrorDetail[] => [{ reason: "template_not_allowed", path, message }];
  if (wholePlaceholder(value) === undefined) {
    return refuse(`"${path}" mixes {${used}} with other text; a parameter stands alone, as "{${used}}".`);
  }
  return declared.has(used)
    ? []
    : refuse(`"${path}" uses {${used}}, which is not a property in "parameters".`);
}

/** How a tool is found by its name, among those in force. */
export type FindTool = (name: string) => ToolDefinition | undefined;

/** The names from a tool along its fallbacks back to itself; `undefined` where they end. */
function cycleOf({ name, fallback }: Named, find: FindTool): string[] | undefined {
  const names = [name];
  let next = fallback?.tool;
  while (next !== undefined) {
    if (next === name) return [...names, name];
    // A circle of others is theirs to mend.
    if (names.includes(next)) return undefined;
    names.push(next);
    next = find(next)?.fallback?.tool;
  }
  return undefined;
}

/** The fault of a definition whose fallbacks lead back to it. */
export function checkFallbackCycle(definition: Named, find: FindTool): ErrorDetail[] {
  const names = cycleOf(definition, find);
  if (!names) return [];
  const message = `The fallbacks go in a circle: ${names.join(" -> ")}.`;
  return [{ reason: "fallback_cycle", path: "fallback.tool", message }];
}

/** What keeps a fallback from helping, given the tools in force. */
export function lintFallback(definition: Named, find: FindTool, names: readonly string[]): LintNote[] {
  const { fallback } = definition;
  if (!fallback) return [];
  const path = "fallback.tool";
  const circle = cycleOf(definition, find);
  if (circle) {
    const message = `The fallbacks go in a circle (${circle.join(" -> ")}); each of them is asked once.`;
    return [note("fallback_cycle", path, message, `leave "fallback" out of "${circle.at(-2)}"`)];
  }
  const target = find(fallback.tool);
  if (!target) {
    const message = `There is no tool "${fallback.tool}". Until there is one, the model is told of the failure instead.`;
    const others = names.filter((name) => name !== definition.name);
    const [near] = nearest(fallback.tool, others);
    return [note("fallback_missing", path, message, near ?? `register "${fallback.tool}"`)];
  }
  return [...lintApproval(target), ...lintArguments(definition, fallback, target)];
}

/** What a deprecated tool points to, given the tools in force. */
export function lintDeprecated(
  { name, deprecated }: Pick<ToolDefinition, "name" | "deprecated">,
  find: FindTool,
  names: readonly string[],
): LintNote[] {
  const use = deprecated?.use;
  if (use === undefined || (use !== name && find(use))) return [];
  const isItself = use === name;
  const message = isItself
    ? "A tool cannot stand in for itself."
    : `There is no tool "${use}", and the model is told to use it.`;
  const [near] = nearest(
    use,
    names.filter((other) => other !== name),
  );
  return [note("replacement_missing", "deprecated.use", message, near ?? `register "${use}"`)];
}

function lintApproval({ name, level, confirm }: ToolDefinition): LintNote[] {
  if (level === "read" || (level === "write" && confirm === "never")) return [];
  const message = `"${name}" needs a person's approval, so it never runs in place of another tool.`;
  return [note("fallback_needs_approval", "fallback.tool", message, 'a tool with "level": "read"')];
}

function lintArguments(definition: Named, fallback: ToolFallback, target: ToolDefinition): LintNote[] {
  const given = new Set(
    fallback.arguments ? Object.keys(fallback.arguments) : declaredProperties(definition.parameters),
  );
  const required = target.parameters?.["required"];
  const missing = (Array.isArray(required) ? required : []).filter((name) => !given.has(String(name)));
  if (missing.length === 0) return [];
  const listed = missing.map((name) => `"${String(name)}"`).join(", ");
  const message = `"${target.name}" requires ${listed}, which it is not given: its schema will refuse the call.`;
  const suggestion = `"arguments": { ${JSON.stringify(missing[0])}: "{…}" }`;
  return [note("fallback_arguments", "fallback.arguments", message, suggestion)];
}
