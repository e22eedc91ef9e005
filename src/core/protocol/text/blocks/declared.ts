import type { ReaderContext } from "../reader.ts";
import type { SchemaView } from "./schema-view.ts";

/** The declared name that a model means: its own spelling, unless only its `functions.` in front keeps it from being one. */
export function declaredName(name: string, { tools }: ReaderContext): string {
  const bare = name.replace(/^functions?\./, "");
  return !tools.has(name) && tools.has(bare) ? bare : name;
}

/** Argument text for a tool from a plain text: an object as it is; anything else as the only text that the tool takes. */
export function forOnlyText(text: string, schema: SchemaView): string {
  const trimmed = text.trim();
  if (trimmed === "") return "{}";
  if (trimmed.startsWith("{")) return text;
  const name = schema.onlyText;
  return name === undefined ? text : JSON.stringify({ [name]: text });
}
