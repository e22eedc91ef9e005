import type { JsonValue } from "../json/value.ts";

/** Characters of the JSON text of arguments; the parser allows no more. */
export const MAX_ARGUMENTS = 1_048_576;

/** What a JSON value costs whoever works on it. */
export interface Measure {
  /** Objects and arrays inside each other; 0 for a scalar. */
  depth: number;
  /** Values, the containers and the value itself included. */
  values: number;
  /** Characters of its JSON text, escapes not counted. */
  length: number;
  /** Elements of the longest array. */
  longestArray: number;
  /** Whether a `bigint` is somewhere in it. */
  hasBigint: boolean;
  /** Whether `__proto__` is the key of a member somewhere in it. */
  hasProtoKey: boolean;
}

/**
 * Measures a value without recursion. Stops as soon as it is deeper than `maxDepth` or longer than `maxLength`: the
 * measure is then beyond that limit and otherwise incomplete.
 */
export function measure(value: JsonValue, maxDepth: number, maxLength: number): Measure {
  const sum: Measure = {
    depth: 0,
    values: 0,
    length: 0,
    longestArray: 0,
    hasBigint: false,
    hasProtoKey: false,
  };
  const stack: [JsonValue, number][] = [[value, 0]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [current, depth] = next;
    sum.values++;
    if (typeof current !== "object" || current === null) addScalar(sum, current);
    else {
      sum.depth = Math.max(sum.depth, depth + 1);
      if (sum.depth > maxDepth) return sum;
      for (const child of openContainer(sum, current)) stack.push([child, depth + 1]);
    }
    if (sum.length > maxLength) return sum;
  }
  return sum;
}

function addScalar(sum: Measure, value: null | boolean | number | bigint | string): void {
  if (typeof value === "string") sum.length += value.length + 2;
  else if (typeof value === "bigint") {
    sum.hasBigint = true;
    sum.length += value.toString().length;
  } else sum.length += String(value).length;
}

function openContainer(sum: Measure, container: JsonValue[] | { [key: string]: JsonValue }): JsonValue[] {
  if (Array.isArray(container)) {
    sum.longestArray = Math.max(sum.longestArray, container.length);
    sum.length += 2 + container.length;
    return container;
  }
  const keys = Object.keys(container);
  if (keys.includes("__proto__")) sum.hasProtoKey = true;
  sum.length += keys.reduce((length, key) => length + key.length + 4, 2);
  return Object.values(container);
}

/** The path of the first array with more than `limit` elements; the value must not be nested too deep to recurse. */
export function findLongArray(value: JsonValue, limit: number): (string | number)[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && value.length > limit) return [];
  for (const [key, child] of Object.entries(value)) {
    const path = findLongArray(child, limit);
    if (path !== undefined) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}
