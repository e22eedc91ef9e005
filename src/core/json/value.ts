/**
 * A JSON value as the gateway holds it. Integers beyond ±(2^53 - 1) are `bigint`, so that they reach a tool digit for digit;
 * every other number is a double.
 */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** A JSON object. `__proto__` is an ordinary own key in it. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Where a value stands: keys and array positions from the root. */
export type JsonPath = readonly (string | number)[];

/** Whether a value is an object: neither an array nor `null`. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a member as an own property whatever its name is: `__proto__` sets no prototype. */
export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
