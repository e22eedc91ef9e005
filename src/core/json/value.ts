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
