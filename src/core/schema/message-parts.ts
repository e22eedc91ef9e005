import { stringifyJson } from "../json/stringify.ts";
import type { JsonValue } from "../json/value.ts";
import type { Bound, Rule } from "./problem.ts";

/** How many characters the parts of a message may take. */
export interface Room {
  /** A parameter's path or name. */
  readonly name: number;
  /** What the model sent. */
  readonly value: number;
  /** What is expected: a list of names or values, a pattern. */
  readonly wanted: number;
}

/** The beginning of a list, and how long the whole is. */
export interface Listed {
  readonly shown: readonly string[];
  readonly count: number;
}

/** What one language says about each kind of problem; all texts are written and shortened. A name is `undefined` where the arguments
 * as a whole are meant. */
export interface Wording {
  /** `meant` is set if the first unexpected name probably stands for the missing one. */
  missing(names: Listed, unexpected: Listed, meant: string | undefined): string;
  /** `near` are the known names that were probably meant, else `known` says which there are. */
  unexpected(names: Listed, near: readonly string[], known: Listed): string;
  type(name: Name, types: readonly string[], value: Sent): string;
  /** `near` are values that were probably meant. */
  enum(name: Name, allowed: Listed, value: Sent, near: readonly string[]): string;
  rule(rule: Rule, name: Name, limit: string, value: Sent): string;
  bound(bound: Bound, name: Name, limit: number): string;
}

/** A value that the model sent: its JSON type and its text. */
export interface Sent {
  readonly type: string;
  readonly text: string;
}

type Name = string | undefined;

/** As many items as have room, the first one in any case; each is shortened to that room. */
export function fitting(items: readonly string[], room: number): Listed {
  const shown: string[] = [];
  let left = room;
  for (const item of items) {
    const text = shorten(item, room);
    if (shown.length > 0 && text.length > left) break;
    shown.push(text);
    left -= text.length + 2;
  }
  return { shown, count: items.length };
}

/** The end of a path, where the parameter's own name is; a cut one begins with `…`. */
export function shortenStart(text: string, length: number): string {
  const short = text.length <= length ? text : `…${text.slice(1 - length)}`;
  return short.toWellFormed().replace(/^…\uFFFD/u, "…");
}

/** A text of at most `length` characters that is well-formed Unicode; a cut one ends in `…`. */
export function shorten(text: string, length: number): string {
  const short = text.length <= length ? text : `${text.slice(0, length - 1)}…`;
  // A cut between the halves of a pair leaves a lone one.
  return short.toWellFormed().replace(/\uFFFD…$/, "…");
}

/** A value as JSON text, shortened. Only as much of a large value is written as is shown. */
export function quote(value: JsonValue, room: number): string {
  return shorten(write(value, room + 1), room);
}

/** What was sent, in words and characters. */
export function sent(value: JsonValue, room: number): Sent {
  const type = Array.isArray(value) ? "array" : typeof value === "bigint" ? "number" : typeof value;
  return { type: value === null ? "null" : type, text: quote(value, room) };
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
