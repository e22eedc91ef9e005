import type { JsonObject, JsonValue } from "../json/value.ts";
import { chargeText, type JmesFunction } from "./function-shape.ts";
import {
  arrayOf,
  compute,
  type Expression,
  elements,
  equal,
  type Item,
  numberOf,
  objectOf,
  take,
  typeOf,
} from "./item.ts";
import { type Meter, SelectFailed } from "./meter.ts";

/** Numbers or strings, by which items can be put in an order. */
type Key = number | bigint | string;

function keyOf(item: Item): Key | undefined {
  return typeof item === "string" ? item : numberOf(item);
}

const order = (a: Key, b: Key) => (a < b ? -1 : a > b ? 1 : 0);

/** The keys that an expression gives for items; all of them are numbers, or all of them strings. */
function keysBy(items: readonly Item[], expression: Expression | undefined, name: string): Key[] {
  const keys = items.map((item) => {
    const value = expression ? expression(item) : item;
    const key = keyOf(value);
    if (key === undefined) throw new SelectFailed(`"${name}" cannot go by a value of type ${typeOf(value)}`);
    return key;
  });
  const strings = keys.filter((key) => typeof key === "string").length;
  if (strings > 0 && strings < keys.length)
    throw new SelectFailed(`"${name}" cannot order numbers and strings`);
  return keys;
}

function sorted(name: string): JmesFunction["call"] {
  return ([array, expression]: [JsonValue[], Expression?], meter: Meter) => {
    meter.charge(array.length * Math.ceil(Math.log2(array.length + 2)));
    const items = elements(array);
    const keys = keysBy(items, expression, name);
    const places = items.map((_, at) => at).sort((a, b) => order(keys[a] as Key, keys[b] as Key));
    return arrayOf(places.map((at) => items[at] as Item));
  };
}

/** The first item that no other one beats; `sign` is 1 for the largest, -1 for the smallest. */
function extreme(name: string, sign: 1 | -1): JmesFunction["call"] {
  return ([array, expression]: [JsonValue[], Expression?], meter: Meter) => {
    meter.charge(array.length);
    const items = elements(array);
    const keys = keysBy(items, expression, name);
    let best = 0;
    for (const [at, key] of keys.entries()) if (order(key, keys[best] as Key) * sign > 0) best = at;
    return items[best] ?? null;
  };
}

function sumOf(array: JsonValue[], meter: Meter): number | bigint {
  meter.charge(array.length);
  return elements(array).reduce<number | bigint>((sum, item) => compute("+", sum, numberOf(item) ?? 0), 0);
}

/** Functions on arrays, and on arrays or strings. */
export const ARRAY_FUNCTIONS: Readonly<Record<string, JmesFunction>> = {
  sum: { takes: [["numbers"]], call: ([array]: [JsonValue[]], meter) => sumOf(array, meter) },
  avg: {
    takes: [["numbers"]],
    call: ([array]: [JsonValue[]], meter) =>
      array.length === 0 ? null : Number(sumOf(array, meter)) / array.length,
  },
  max: { takes: [["numbers", "strings"]], call: extreme("max", 1) },
  min: { takes: [["numbers", "strings"]], call: extreme("min", -1) },
  max_by: { takes: [["array"], ["expression"]], call: extreme("max_by", 1) },
  min_by: { takes: [["array"], ["expression"]], call: extreme("min_by", -1) },
  sort: { takes: [["strings", "numbers"]], call: sorted("sort") },
  sort_by: { takes: [["array"], ["expression"]], call: sorted("sort_by") },
  map: {
    takes: [["expression"], ["array"]],
    call([expression, array]: [Expression, JsonValue[]], meter) {
      meter.charge(array.length);
      return arrayOf(elements(array).map(expression));
    },
  },
  group_by: {
    takes: [["array"], ["expression"]],
    call([array, expression]: [JsonValue[], Expression], meter) {
      meter.charge(array.length);
      const groups = new Map<string, Item[]>();
      for (const item of elements(array)) {
        const key = expression(item);
        if (typeof key !== "string")
          throw new SelectFailed(`"group_by" cannot go by a value of type ${typeOf(key)}`);
        const group = groups.get(key);
        if (group) group.push(item);
        else groups.set(key, [item]);
      }
      const members = [...groups].map(([key, items]) => [key, arrayOf(items)] as const);
      return objectOf(members);
    },
  },
  contains: {
    takes: [["string", "array"], ["any"]],
    call([inside, item]: [string | JsonValue[], Item], meter) {
      if (typeof inside !== "string") {
        return inside.some((_, at) => equal(take(inside, at), item, meter));
      }
      chargeText(inside.length, meter);
      return typeof item === "string" && inside.includes(item);
    },
  },
  length: {
    takes: [["string", "array", "object"]],
    call([item]: [string | JsonValue[] | JsonObject], meter) {
      const keys = typeof item === "object" && !Array.isArray(item) ? Object.keys(item) : item;
      meter.charge(Array.isArray(item) ? 1 : keys.length);
      return typeof keys === "string" ? [...keys].length : keys.length;
    },
  },
  reverse: {
    takes: [["string", "array"]],
    call([item]: [string | JsonValue[]], meter) {
      meter.charge(item.length);
      return typeof item === "string" ? [...item].reverse().join("") : arrayOf(elements(item).reverse());
    },
  },
  zip: {
    takes: [["array"]],
    repeats: true,
    call(arrays: JsonValue[][], meter) {
      const length = Math.min(...arrays.map((array) => array.length));
      meter.charge(length * arrays.length);
      return Array.from({ length }, (_, at) => arrayOf(arrays.map((array) => take(array, at))));
    },
  },
};
