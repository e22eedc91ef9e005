import { stringifyJson } from "../json/stringify.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { chargeText, type JmesFunction } from "./function-shape.ts";
import { arrayOf, chargeTree, type Item, numberOf, objectOf, Spelled, take, typeOf } from "./item.ts";
import { type Meter, SelectFailed } from "./meter.ts";

function keysOf(object: JsonObject, meter: Meter): string[] {
  const keys = Object.keys(object);
  meter.charge(keys.length);
  return keys;
}

const rounded = (round: (value: number) => number): JmesFunction => ({
  takes: [["number"]],
  call([value]: [Item]) {
    const number = numberOf(value);
    return typeof number === "bigint" ? number : round(Number(number));
  },
});

/** Functions on objects, on numbers and on values of any type. */
export const OBJECT_FUNCTIONS: Readonly<Record<string, JmesFunction>> = {
  abs: {
    takes: [["number"]],
    call([value]: [Item]) {
      const number = numberOf(value) ?? 0;
      if (typeof number === "bigint") return number < 0n ? -number : number;
      return number < 0 ? Math.abs(number) : value;
    },
  },
  ceil: rounded(Math.ceil),
  floor: rounded(Math.floor),
  keys: {
    takes: [["object"]],
    call: ([object]: [JsonObject], meter) => keysOf(object, meter),
  },
  values: {
    takes: [["object"]],
    call: ([object]: [JsonObject], meter) => arrayOf(keysOf(object, meter).map((key) => take(object, key))),
  },
  items: {
    takes: [["object"]],
    call: ([object]: [JsonObject], meter) =>
      keysOf(object, meter).map((key) => arrayOf([key, take(object, key)])),
  },
  from_items: {
    takes: [["arrays"]],
    call([pairs]: [JsonValue[][]], meter) {
      meter.charge(pairs.length);
      return objectOf(
        pairs.map((pair) => {
          const [key] = pair;
          if (pair.length === 2 && typeof key === "string") return [key, take(pair, 1)] as const;
          throw new SelectFailed('"from_items" takes pairs of a string and a value');
        }),
      );
    },
  },
  merge: {
    takes: [["object"]],
    repeats: true,
    call: (objects: JsonObject[], meter) =>
      objectOf(
        objects.flatMap((object) => keysOf(object, meter).map((key) => [key, take(object, key)] as const)),
      ),
  },
  not_null: {
    takes: [["any"]],
    repeats: true,
    call: (items: Item[]) => items.find((item) => item !== null) ?? null,
  },
  to_array: {
    takes: [["any"]],
    call: ([item]: [Item]) => (Array.isArray(item) ? item : arrayOf([item])),
  },
  to_number: {
    takes: [["any"]],
    call: ([item]: [Item]) => (typeof item === "string" ? readNumber(item) : numberOrNull(item)),
  },
  to_string: {
    takes: [["any"]],
    call([item]: [Item], meter) {
      if (typeof item === "string") return item;
      if (item instanceof Spelled) return item.text;
      chargeTree(item, meter);
      const text = stringifyJson(item);
      chargeText(text.length, meter);
      return text;
    },
  },
  type: { takes: [["any"]], call: ([item]: [Item]) => typeOf(item) },
};

const numberOrNull = (item: Item): Item => (typeOf(item) === "number" ? item : null);

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/** What JSON calls a number; integers keep every digit. */
function readNumber(text: string): Item {
  if (!JSON_NUMBER.test(text)) return null;
  const number = Number(text);
  if (Number.isSafeInteger(number) || !/^-?\d{1,1000}$/u.test(text))
    return Number.isFinite(number) ? number : null;
  return BigInt(text);
}
