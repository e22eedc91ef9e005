import { stringifyJson } from "./json/stringify.ts";
import type { JsonObject, JsonValue } from "./json/value.ts";
import { castString } from "./schema/cast.ts";
import { ARRAY, STRING, typeOf, typeSet } from "./schema/json-types.ts";
import { type LintNote, note } from "./tool-lint-note.ts";

/**
 * A `default` that the parameter itself would refuse: a wrong type, or none of the `enum`. It is read by the model and filled in by
 * nobody, so the tool is accepted. `null` is how many generators write that there is none.
 */
export function lintDefault(name: string, path: string, schema: JsonObject): LintNote[] {
  const value = Object.hasOwn(schema, "default") ? schema["default"] : undefined;
  if (value === undefined || value === null || fits(value, schema)) return [];
  const message = `The model reads this default of "${name}" as a good value and may send it, but the schema refuses it.`;
  const better = [meant(value, schema)].find((found) => found !== undefined && fits(found, schema));
  const suggestion = better === undefined ? 'leave "default" out' : `"default": ${stringifyJson(better)}`;
  return [note("default_invalid", `${path}.default`, message, suggestion)];
}

function fits(value: JsonValue, { type, enum: values }: JsonObject): boolean {
  const types = typesOf(type);
  if (types.length > 0 && !(typeOf(value) & typeSet(types))) return false;
  return !Array.isArray(values) || values.some((each) => stringifyJson(each) === stringifyJson(value));
}

/** The same value in the type that is wanted. */
function meant(value: JsonValue, { type, enum: values }: JsonObject): JsonValue | undefined {
  const wanted = typeSet(typesOf(type));
  if (typeof value === "string") {
    const folded = value.trim().toLowerCase();
    const listed = Array.isArray(values) ? values : [];
    const same = listed.find((each) => typeof each === "string" && each.toLowerCase() === folded);
    return same ?? castString(folded, wanted) ?? (wanted & ARRAY ? [value] : undefined);
  }
  if (typeof value !== "object" && wanted & STRING) return String(value);
  return wanted & ARRAY && !Array.isArray(value) ? [value] : undefined;
}

function typesOf(type: JsonValue | undefined): string[] {
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
}
