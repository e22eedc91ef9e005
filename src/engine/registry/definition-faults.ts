import { type CheckedTool, refusedDefinition } from "../../core/tool-definition.ts";
import { GatewayError } from "../../errors.ts";

/** A fault of a definition that nobody is waiting for: in a file, or in the store of an earlier version. */
export interface ToolProblem {
  /** The file, or `store: NAME`. */
  source: string;
  path: string;
  message: string;
}

/** Whether a value is an object and no array. */
export const isObject = (value: unknown): value is object =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** There is no tool of this name. */
export function notFound(name: string): GatewayError {
  return new GatewayError("tool_not_found", `There is no tool "${name.slice(0, 64)}".`, { param: "name" });
}

/** The input under the name of its URL, which it may leave out but not contradict. Throws `invalid_tool_definition`. */
export function named(name: string, input: unknown): unknown {
  if (!isObject(input)) return input;
  const own = "name" in input ? input.name : name;
  if (own === name) return { ...input, name };
  const message = `"name" must be the one in the URL, or be left out.`;
  throw new GatewayError("invalid_tool_definition", `The tool definition is refused: ${message}`, {
    param: "name",
    details: [{ reason: "name_mismatch", path: "name", message }],
  });
}

/** The error for a version that was never stored under a name. */
export const noVersion = (name: string, version: number): GatewayError =>
  new GatewayError("version_not_found", `The store has no version ${version} of "${name.slice(0, 64)}".`, {
    param: "version",
  });

/** One line for each fault of a refused definition. */
export function problemsOf(source: string, error: GatewayError, prefix = ""): ToolProblem[] {
  const details = error.options.details ?? [{ path: "", message: error.message }];
  return details.map(({ path, message }) => ({
    source,
    path: prefix !== "" && path !== "" ? `${prefix}.${path}` : prefix + path,
    message: message ?? error.message,
  }));
}

/** A checked tool from a file, where there are no versions that a canary could be. Throws `invalid_tool_definition` for one. */
export function withoutCanary(checked: CheckedTool): CheckedTool {
  if (!checked.definition.canary) return checked;
  const message = '"canary": a tool in a file has no other versions; store it over the API instead.';
  throw refusedDefinition([{ reason: "unknown_version", path: "canary", message }]);
}
