import { withSpellings } from "../json/spelling.ts";
import { isObject, type JsonObject, type JsonValue, setMember } from "../json/value.ts";
import { step } from "../schema/pointer.ts";

/** Every element of an array. */
export const EACH = Symbol("each");

/** Where a parameter stands in the arguments: member names, and `EACH` for every element of an array. */
export type ValuePath = readonly (string | typeof EACH)[];

const SEGMENT = /^([^.[\]]+)((?:\[\])*)$/;

/** Reads `city`, `stops[].city` or `range.from`; `undefined` if the text is no such path. */
export function parseValuePath(text: string): ValuePath | undefined {
  const path: (string | typeof EACH)[] = [];
  for (const segment of text.split(".")) {
    const [, name, brackets = ""] = SEGMENT.exec(segment) ?? [];
    if (name === undefined) return undefined;
    path.push(name);
    for (let at = 0; at < brackets.length; at += 2) path.push(EACH);
  }
  return path;
}

/** Turns the value at a path, a JSON pointer, into another; the same value means no change. */
export type Replace = (value: JsonValue, pointer: string) => JsonValue;

/**
 * The value with everything that stands at `path` replaced. What the path does not lead to is left alone; the value given
 * is not changed, and unchanged parts are shared with the result.
 */
export function replaceAt(value: JsonValue, path: ValuePath, replace: Replace, pointer = ""): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return replace(value, pointer);
  if (first === EACH) {
    if (!Array.isArray(value)) return value;
    const items = value.map((item, at) => replaceAt(item, rest, replace, step(pointer, at)));
    return items.some((item, at) => item !== value[at]) ? withSpellings(items, value) : value;
  }
  if (!isObject(value) || !Object.hasOwn(value, first)) return value;
  const member = value[first] as JsonValue;
  const replaced = replaceAt(member, rest, replace, step(pointer, first));
  return replaced === member ? value : withMember(value, first, replaced);
}

/** A copy of an object in which one member has another value. */
function withMember(object: JsonObject, key: string, value: JsonValue): JsonObject {
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(object)) setMember(copy, name, member);
  setMember(copy, key, value);
  return withSpellings(copy, object);
}

/** Whether a value that stands at `at` (names, and numbers of elements) is at `path` or inside of it. */
export function isWithin(at: readonly (string | number)[], path: ValuePath): boolean {
  return (
    at.length >= path.length &&
    path.every((part, index) => (part === EACH ? typeof at[index] === "number" : part === at[index]))
  );
}
