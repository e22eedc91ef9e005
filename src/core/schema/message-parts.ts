import { stringifyJson } from "../json/stringify.ts";
import type { JsonValue } from "../json/value.ts";
import type { Bound, Rule } from "./problem.ts";

/** Characters of a quoted value. */
const MAX_QUOTED = 60;

/** What one language says about each kind of problem. A name is `undefined` where the arguments as a whole are meant. */
export interface Wording {
  /** `meant` is set if the first unexpected name probably stands for it. */
  missing(names: Names, unexpected: Names, meant: string | undefined): string;
  unexpected(names: Names, near: readonly string[], known: readonly string[]): string;
  type(name: Name, types: readonly string[], value: JsonValue): string;
  /** `allowed` may be the beginning of a list of `count`. */
  enum(
    name: Name,
    allowed: readonly JsonValue[],
    count: number,
    value: JsonValue,
    near: readonly string[],
  ): string;
  rule(rule: Rule, name: Name, limit: JsonValue, value: JsonValue): string;
  bound(bound: Bound, name: Name, limit: number): string;
}

type Name = string | undefined;
type Names = readonly Name[];

/** A text of at most `length` characters that is well-formed Unicode; a cut one ends in `…`. */
export function shorten(text: string, length: number): string {
  const short = text.length <= length ? text : `${text.slice(0, length - 1)}…`;
  // A cut between the halves of a pair leaves a lone one.
  return short.toWellFormed().replace(/\uFFFD…$/, "…");
}

/** A value as JSON text, shortened. Only as much of a large value is written as is shown. */
export function quote(value: JsonValue): string {
  return shorten(write(value, MAX_QUOTED + 1), MAX_QUOTED);
}

function write(value: JsonValue, room: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, room));
  if (typeof value !== "object" || value === null) return stringifyJson(value);
  const isArray = Array.isArray(value);
  const parts: string[] = [];
  let left = room;
  for (const key of Object.keys(value)) {
    if (left <= 0) break;
    const member = (value as Record<string, JsonValue>)[key] as JsonValue;
    const text = isArray
      ? write(member, left)
      : `${JSON.stringify(key.slice(0, room))}:${write(member, left)}`;
    left -= text.length + 1;
    parts.push(text);
  }
  return isArray ? `[${parts.join()}]` : `{${parts.join()}}`;
}

/** `a`, `a or b`, `a, b or c`. */
export function list(items: readonly string[], last: string, separator = ", "): string {
  const [end = "", ...others] = items.toReversed();
  return others.length === 0 ? end : `${others.toReversed().join(separator)}${last}${end}`;
}
