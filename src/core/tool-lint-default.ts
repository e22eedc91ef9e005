import { stringifyJson } from "./json/stringify.ts";
import type { JsonObject, JsonValue } from "./json/value.ts";
import { type LintNote, note } from "./tool-lint-note.ts";

/**
 * A `default` that is none of the parameter's `enum`. The model reads it and nobody fills it in, so the tool works; one of another
 * type is a fault of the schema and refused. `null` is how many generators write that there is none.
 */
export function lintDefault(name: string, path: string, schema: JsonObject): LintNote[] {
  const value = Object.hasOwn(schema, "default") ? schema["default"] : undefined;
  const { enum: values } = schema;
  if (value === undefined || value === null || !Array.isArray(values)) return [];
  if (values.some((each) => stringifyJson(each) === stringifyJson(value))) return [];
  const message = `The model reads this default of "${name}" as a good value and may send it, but the schema refuses it.`;
  const meant = values.find((each) => folded(each) === folded(value));
  const suggestion = meant === undefined ? 'leave "default" out' : `"default": ${stringifyJson(meant)}`;
  return [note("default_invalid", `${path}.default`, message, suggestion)];
}

const folded = (value: JsonValue) => (typeof value === "string" ? value.trim().toLowerCase() : value);
