import { JsonParser } from "../../src/core/json/parser.ts";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";

/** Reads a JSON text with every digit of its integers. Throws an `Error` for what is none. */
export function readJson(text: string): JsonValue {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  parser.end();
  if (parser.value !== undefined && parser.status === "complete") return parser.value;
  throw new Error(`not JSON: ${text.slice(0, 80)}`);
}

/** Whether two values are the same, whatever the order of members and the spelling of numbers. */
export function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (isNumber(a) && isNumber(b)) return typeof a === typeof b ? a === b : Number(a) === Number(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  );
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
