import { isJson } from "./json-text.ts";
import { literalToJson } from "./loose-literal.ts";
import type { SchemaView } from "./schema-view.ts";

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Whether a text may mean `null`, or begins like one that does. */
export function mayBeNull(text: string): boolean {
  return "null".startsWith(text.trim());
}

/**
 * The JSON of a value that was written as bare text, as its schema wants it: a string is the text as it stands, anything else is read;
 * what cannot be read stays text, for the gates to judge. Numbers and JSON keep every digit.
 */
export function typedText(text: string, schema: SchemaView): string {
  const { types } = schema;
  const bare = text.trim();
  if (types.has("null") && bare === "null") return "null";
  if (types.size === 0 || types.has("string")) return JSON.stringify(text);
  return readAs(bare, types) ?? JSON.stringify(text);
}

/** The JSON of a value whose text is said to be JSON. */
export function jsonText(text: string, schema: SchemaView): string {
  const bare = text.trim();
  return isJson(bare) ? bare : typedText(text, schema);
}

function readAs(bare: string, types: ReadonlySet<string>): string | undefined {
  if (types.has("boolean") && /^(?:true|false)$/i.test(bare)) return bare.toLowerCase();
  if ((types.has("number") || types.has("integer")) && JSON_NUMBER.test(bare)) return bare;
  if (types.has("null") && bare === "None") return "null";
  const structured =
    (types.has("object") && bare.startsWith("{")) || (types.has("array") && bare.startsWith("["));
  if (!structured) return undefined;
  return isJson(bare) ? bare : literalToJson(bare);
}
