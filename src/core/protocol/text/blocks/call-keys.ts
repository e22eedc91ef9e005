import { withSpellings } from "../../../json/spelling.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../json/value.ts";

/** What a format allows an object to be. */
export interface CallShape {
  /** Nothing but the object says that it is a call: its name must be declared, arguments must be there and no other key before them. */
  bare?: true;
  /** The model gives its calls ids that it wants back. */
  ids?: true;
  /** `thought` is what the model thinks; without a tool it is its answer. */
  thought?: true;
  /** `{"NAME": {…}}`. */
  keyIsName?: true;
  /** Names that mean "no tool". */
  noTool?: readonly string[];
}

/** Keys under which models write the name of a tool. */
export const NAME: ReadonlySet<string> = new Set(["name", "tool_name", "action", "tool", "function"]);
/** Keys under which they write its arguments. */
export const ARGUMENTS: ReadonlySet<string> = new Set([
  "arguments",
  "parameters",
  "args",
  "input",
  "action_input",
]);
/** Keys under which they write what they call the call. */
export const ID: ReadonlySet<string> = new Set(["id", "tool_call_id"]);
/** Keys of an object around a call. */
export const WRAPPER: ReadonlySet<string> = new Set(["tool_call", "function_call", "function"]);
/** The key of an array of calls. */
export const LIST = "tool_calls";
/** Wrappers around one call; with more of them it is none. */
export const MAX_WRAPPERS = 4;
/** Keys that say nothing of their own. */
export const NEUTRAL: ReadonlySet<string> = new Set(["type", "index"]);

/** The call that a whole object is, if it has a name. Where it has no arguments, what stands beside the name is them. */
export function callIn(object: JsonObject): { name: string; args: JsonValue } | undefined {
  const inner = [...WRAPPER].map((key) => object[key]).find(isObject) ?? object;
  const named = Object.keys(inner).find((key) => NAME.has(key));
  const name = named === undefined ? undefined : inner[named];
  if (named === undefined || typeof name !== "string") return undefined;
  const key = Object.keys(inner).find((one) => ARGUMENTS.has(one));
  if (key !== undefined) return { name, args: inner[key] as JsonValue };
  const others = Object.entries(inner).filter(([one]) => one !== named && !ID.has(one) && !NEUTRAL.has(one));
  return { name, args: withSpellings(Object.fromEntries(others), inner) };
}
