import { keepSpelling, spellingOf } from "../json/spelling.ts";
import { type JsonObject, type JsonValue, setMember } from "../json/value.ts";
import { type Meter, SelectFailed } from "./meter.ts";

/** A number that a double does not hold as it was written, taken out of the object or array that keeps its text. */
export class Spelled {
  readonly number: number;
  readonly text: string;

  constructor(number: number, text: string) {
    this.number = number;
    this.text = text;
  }
}

/** A value while an expression is evaluated. */
export type Item = JsonValue | Spelled;

/** What the argument `&expression` of a function does. */
export type Expression = (item: Item) => Item;

export type Container = JsonObject | JsonValue[];

/** A member or an element, `null` where there is none. */
export function take(container: Container, key: string | number): Item {
  if (!Object.hasOwn(container, key)) return null;
  const value = (container as JsonObject)[key] as JsonValue;
  if (typeof value !== "number") return value;
  const text = spellingOf(container, key);
  return text === undefined ? value : new Spelled(value, text);
}

/** Every element of an array. */
export function elements(array: JsonValue[]): Item[] {
  return array.map((_, at) => take(array, at));
}

/** A new array, which keeps how its numbers were written. */
export function arrayOf(items: readonly Item[]): JsonValue[] {
  const array = items.map((item) => (item instanceof Spelled ? item.number : item));
  for (const [at, item] of items.entries()) spell(array, at, item);
  return array;
}

/** A new object; of two members with one name the later counts. */
export function objectOf(members: Iterable<readonly [string, Item]>): JsonObject {
  const object: JsonObject = {};
  for (const [key, item] of members) {
    setMember(object, key, item instanceof Spelled ? item.number : item);
    spell(object, key, item);
  }
  return object;
}

function spell(container: Container, key: string | number, item: Item): void {
  if (item instanceof Spelled) keepSpelling(container, key, item.number, item.text);
}

export function isObject(item: Item): item is JsonObject {
  return typeof item === "object" && item !== null && !Array.isArray(item) && !(item instanceof Spelled);
}

/** The type in the words of JMESPath. */
export function typeOf(item: Item): "null" | "boolean" | "number" | "string" | "array" | "object" {
  if (item === null) return "null";
  if (typeof item === "bigint" || item instanceof Spelled) return "number";
  if (Array.isArray(item)) return "array";
  return typeof item as "boolean" | "number" | "string" | "object";
}

/** Empty strings, arrays and objects, `false` and `null`. */
export function isFalse(item: Item): boolean {
  if (item === null || item === false || item === "") return true;
  if (Array.isArray(item)) return item.length === 0;
  return isObject(item) && Object.keys(item).length === 0;
}

/** A number that can be compared and computed with; `undefined` for what is none. */
export function numberOf(item: Item): number | bigint | undefined {
  if (item instanceof Spelled) return item.number;
  return typeof item === "number" || typeof item === "bigint" ? item : undefined;
}

/** Whether two values are the same; `1` and `1.0` are. */
export function equal(a: Item, b: Item, meter: Meter): boolean {
  meter.charge(1);
  const [x, y] = [numberOf(a), numberOf(b)];
  // A bigint and a double are compared by value; `===` would tell their types apart.
  if (x !== undefined && y !== undefined) return !(x < y || x > y);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((_, at) => equal(take(a, at), take(b, at), meter));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && equal(take(a, key), take(b, key), meter));
  }
  return a === b;
}

/** Pays for every value in a tree, also one that stands in it many times, and for the text of its strings. */
export function chargeTree(item: Item, meter: Meter): void {
  meter.charge(typeof item === "string" ? 1 + item.length / 16 : 1);
  if (typeof item !== "object" || item === null || item instanceof Spelled) return;
  for (const key of Array.isArray(item) ? [] : Object.keys(item)) meter.charge(1 + key.length / 16);
  for (const value of Object.values(item)) chargeTree(value, meter);
}

/** Adds, subtracts or multiplies; integers exactly, whatever their size. */
export function compute(operator: "+" | "-" | "*", a: number | bigint, b: number | bigint): number | bigint {
  const rough = onDoubles(operator, Number(a), Number(b));
  if (Number.isSafeInteger(rough) && typeof a === "number" && typeof b === "number") return rough;
  if (!isWhole(a) || !isWhole(b)) return rough;
  const [x, y] = [BigInt(a), BigInt(b)];
  const exact = operator === "+" ? x + y : operator === "-" ? x - y : x * y;
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

/** The division of JMESPath; its divisor must not be 0. */
export function divide(a: number | bigint, b: number | bigint): number {
  if (Number(b) === 0) throw new SelectFailed("it divides by zero");
  return Number(a) / Number(b);
}

function onDoubles(operator: "+" | "-" | "*", a: number, b: number): number {
  if (operator === "+") return a + b;
  return operator === "-" ? a - b : a * b;
}

const isWhole = (value: number | bigint) => typeof value === "bigint" || Number.isSafeInteger(value);
