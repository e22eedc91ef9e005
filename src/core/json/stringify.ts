import { hash } from "node:crypto";
import { hasSpellings, spellDouble, spellingOf } from "./spelling.ts";
import { type JsonObject, type JsonValue, setMember } from "./value.ts";

declare global {
  interface JSON {
    /** ECMAScript proposal "JSON.parse source text access"; Node has it, the types of ES2024 do not. */
    rawJSON(text: string): object;
  }
}

/**
 * Compact JSON text.
 *
 * 1. A `bigint` keeps every digit. A number that the parser read and a double does not hold is written as it stood in the text
 *    (`1e400`, `0.1e-400`, more digits than a double has); an infinite double of which no text is known as `1e999` or `-1e999`.
 * 2. -0 is `-0`. In all else the text is that of `JSON.stringify`: lone surrogates are escaped.
 * 3. So it reads back as the same value, but for a double beyond ±(2^53 - 1) that is written without an exponent: that one reads
 *    back as a `bigint` whose nearest double it is.
 */
export function stringifyJson(value: JsonValue): string {
  return needsRaw(value) ? JSON.stringify(value, rawNumber) : JSON.stringify(value);
}

/** The text of `stringifyJson` with the members of every object in the order of their names: one text for each value, to be hashed. */
export function sortedJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item, at) => sortedPart(value, at, item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return stringifyJson(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sortedPart(value, key, value[key] as JsonValue)}`);
  return `{${members.join(",")}}`;
}

function sortedPart(container: JsonObject | JsonValue[], key: string | number, value: JsonValue): string {
  return spellingOf(container, key) ?? sortedJson(value);
}

/**
 * One text for values that count as the same call: keys in the order of their UTF-16 units, numbers rounded to 6 decimals
 * without trailing zeros, no exponents, -0 as `0`. So `1`, `1.0` and `1.0000001` are the same, `1` and `"1"` are not.
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item, at) => canonicalPart(value, at, item)).join(",")}]`;
  if (typeof value === "number") return canonicalNumber(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalPart(value, key, value[key] as JsonValue)}`);
  return `{${members.join(",")}}`;
}

/** The SHA-256 of `canonicalJson(value)`, in hexadecimal: equal for the same call, whatever its spelling. */
export function canonicalHash(value: JsonValue): string {
  return hash("sha256", canonicalJson(value));
}

/** The same tree with the nearest double for each `bigint`, for code that knows no `bigint`. What holds none is not copied. */
export function plainNumbers(value: JsonValue): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? plainArray(value) : plainObject(value);
}

function plainArray(array: JsonValue[]): JsonValue[] {
  const plain = array.map(plainNumbers);
  return plain.every((item, index) => Object.is(item, array[index])) ? array : plain;
}

function plainObject(object: JsonObject): JsonObject {
  const plain: JsonObject = {};
  let same = true;
  for (const [key, value] of Object.entries(object)) {
    const copy = plainNumbers(value);
    setMember(plain, key, copy);
    same &&= Object.is(copy, value);
  }
  return same ? object : plain;
}

function needsRaw(value: JsonValue): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value === "number") return spellDouble(value) !== undefined;
  if (typeof value !== "object" || value === null) return false;
  if (hasSpellings(value)) return true;
  return Array.isArray(value) ? value.some(needsRaw) : Object.values(value).some(needsRaw);
}

/** A replacer: `this` is the object or array that holds the value. */
function rawNumber(this: JsonObject, key: string, value: unknown): unknown {
  if (typeof value === "bigint") return JSON.rawJSON(String(value));
  const text = typeof value === "number" ? spellingOf(this, key) : undefined;
  return text === undefined ? value : JSON.rawJSON(text);
}

/** Numbers beyond the doubles are told apart by how they were written. */
function canonicalPart(container: JsonObject | JsonValue[], key: string | number, value: JsonValue): string {
  const isBeyond = typeof value === "number" && !Number.isFinite(value);
  return (isBeyond ? spellingOf(container, key) : undefined) ?? canonicalJson(value);
}

function canonicalNumber(number: number): string {
  if (!Number.isFinite(number)) return spellDouble(number) as string;
  if (Number.isInteger(number)) return String(BigInt(number));
  const text = number.toFixed(6).replace(/\.?0+$/, "");
  return text === "-0" ? "0" : text;
}
