import type { ParameterSchema, ReaderContext } from "./reader.ts";

/** The declared name that a model means: its own spelling, unless only its `functions.` in front keeps it from being one. */
export function declaredName(name: string, { tools }: ReaderContext): string {
  const bare = name.replace(/^functions?\./, "");
  return !tools.has(name) && tools.has(bare) ? bare : name;
}

/**
 * Argument text for a tool from a plain text: an object as it is; anything else becomes the value of the only required text
 * parameter, where the tool has exactly one.
 */
export function forOnlyText(text: string, schema: ParameterSchema | undefined): string {
  const trimmed = text.trim();
  if (trimmed === "") return "{}";
  if (trimmed.startsWith("{")) return text;
  const name = onlyTextParameter(schema);
  return name === undefined ? text : JSON.stringify({ [name]: text });
}

/** Whether a plain text can be all the arguments of a tool. */
export const takesText = (schema: ParameterSchema | undefined) => onlyTextParameter(schema) !== undefined;

function onlyTextParameter(schema: ParameterSchema | undefined): string | undefined {
  const properties = (schema?.["properties"] ?? {}) as Record<string, { type?: unknown } | undefined>;
  const required = Array.isArray(schema?.["required"]) ? schema["required"] : Object.keys(properties);
  const texts = required.filter((name) => properties[String(name)]?.type === "string");
  return texts.length === 1 ? String(texts[0]) : undefined;
}
