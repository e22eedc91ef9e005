import { isObject, type JsonObject, type JsonValue, setMember } from "../../../json/value.ts";

const DEPTH = 3;
/** Members of an object that requires none. */
const OPTIONAL_SHOWN = 1;

/** Made-up arguments that fit a tool's JSON Schema as far as types, enumerations and required members go. */
export function exampleArguments(parameters: JsonValue | undefined): JsonObject {
  return isObject(parameters) ? exampleObject(parameters, DEPTH) : {};
}

function exampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const names = Object.keys(properties);
  const { required } = schema;
  const wanted = Array.isArray(required) ? names.filter((name) => required.includes(name)) : [];
  const example: JsonObject = {};
  for (const name of wanted.length > 0 ? wanted : names.slice(0, OPTIONAL_SHOWN)) {
    setMember(example, name, exampleValue(properties[name], depth - 1));
  }
  return example;
}

function exampleValue(schema: JsonValue | undefined, depth: number): JsonValue {
  if (!isObject(schema)) return "text";
  const given = givenValue(schema);
  if (given !== undefined) return given;
  const branch = firstBranch(schema);
  if (branch !== undefined) return exampleValue(branch, depth);
  switch (typeOf(schema)) {
    case "integer":
      return 1;
    case "number":
      return 1.5;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return depth > 0 && isObject(schema["items"]) ? [exampleValue(schema["items"], depth - 1)] : [];
    case "object":
      return depth > 0 ? exampleObject(schema, depth) : {};
    default:
      return "text";
  }
}

function givenValue(schema: JsonObject): JsonValue | undefined {
  const { const: only, enum: listed, examples, default: fallback, minimum } = schema;
  const first = [listed, examples].flatMap((list) => (Array.isArray(list) ? list.slice(0, 1) : []));
  return [only, ...first, fallback, minimum].find((value) => value !== undefined);
}

function firstBranch(schema: JsonObject): JsonValue | undefined {
  const branches = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(branches)
    ? branches.find((branch) => isObject(branch) && branch["type"] !== "null")
    : undefined;
}

function typeOf({ type, properties }: JsonObject): JsonValue | undefined {
  if (type === undefined && properties !== undefined) return "object";
  return Array.isArray(type) ? type.find((name) => name !== "null") : type;
}
