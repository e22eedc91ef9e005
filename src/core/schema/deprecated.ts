import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { type RefTarget, resolveRef } from "./resolve-ref.ts";

/** Names the deprecated parameters that arguments use, `city`, `stops[0].city`; each once. */
export type FindDeprecated = (args: JsonValue) => string[];

const NO_ANCHORS: ReadonlyMap<string, RefTarget> = new Map();

/** Finds uses of parameters that a schema marks with `deprecated: true`; `undefined` for a schema that marks none. */
export function deprecatedIn(root: JsonObject | undefined): FindDeprecated | undefined {
  if (!root || !marksAny(root)) return undefined;
  return (args) => [...new Set(usesIn(root, args, "", root))];
}

function marksAny(schema: JsonValue): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if (!Array.isArray(schema) && schema["deprecated"] === true) return true;
  return Object.values(schema).some(marksAny);
}

/** Goes down with the arguments, so its depth is theirs. */
function* usesIn(root: JsonObject, value: JsonValue, path: string, schema: JsonValue): Generator<string> {
  if (!isObject(schema)) return;
  if (schema["deprecated"] === true && path !== "") yield path;
  for (const same of besides(root, schema)) yield* usesIn(root, value, path, same);
  for (const [at, member, inner] of membersOf(value, path, schema)) yield* usesIn(root, member, at, inner);
}

/** The schemas that judge the same value. */
function besides(root: JsonObject, schema: JsonObject): JsonValue[] {
  const ref = schema["$ref"];
  const target = typeof ref === "string" ? resolveRef(root, NO_ANCHORS, ref) : undefined;
  const found = target === undefined || target === "not local" ? [] : [target.value];
  return [...found, ...["allOf", "anyOf", "oneOf"].flatMap((keyword) => schema[keyword] ?? [])];
}

/** The members and elements that are there and have a schema. */
function membersOf(value: JsonValue, path: string, { items, properties }: JsonObject) {
  if (Array.isArray(value)) {
    const inner = items ?? true;
    return value.map((element, at): [string, JsonValue, JsonValue] => [`${path}[${at}]`, element, inner]);
  }
  if (!isObject(value) || !isObject(properties)) return [];
  return Object.entries(properties)
    .filter(([name]) => Object.hasOwn(value, name))
    .map(([name, inner]): [string, JsonValue, JsonValue] => [
      path === "" ? name : `${path}.${name}`,
      value[name] ?? null,
      inner,
    ]);
}
