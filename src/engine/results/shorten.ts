import { spellingOf } from "../../core/json/spelling.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { withoutTurnMarkup } from "../../core/protocol/turn-markup.ts";

/** What is not there any more: the last items of an array, members of an object, or the end of a string. */
export interface Missing {
  /** As in `items[3].name`; `""` is the whole. */
  path: string;
  what: "items" | "members" | "characters";
  missing: number;
  of: number;
}

/** A JSON value that was made smaller: its text, and what is missing in the order of the text. */
export interface Shortened {
  text: string;
  missing: readonly Missing[];
}

type Container = JsonObject | JsonValue[];

/** A value in its container, with the bytes of its text. */
interface Part {
  key: string | number;
  value: JsonValue;
  bytes: number;
}

const ELLIPSIS = "…";
/** A string of which nothing is left: two quotes and an ellipsis. */
const LEAST = 5;
/** Bytes that the value of a member gets before another member is kept. */
const MEMBER = 64;
/** Bytes that an item gets before another item is kept: a third of the room up to this many, in more room an eighth of it. */
const ITEM = 512;

/**
 * A JSON text of at most `maxBytes` with as much of a value as has room in it; `undefined` if not even its brackets have.
 *
 * 1. It is valid JSON of the same structure: arrays lose their last items, strings their ends, which `…` marks. Numbers, `true`,
 *    `false` and `null` are there as they were, or not at all.
 * 2. What is small stays whole; what is large shares the room that is left, so the longest and deepest parts are cut first.
 * 3. Members of an object are left out only where not all of them can have some bytes.
 * 4. No string in it holds the markup of chat templates.
 * 5. It takes time in proportion to the value's size.
 */
export function shortenJson(value: JsonValue, maxBytes: number): Shortened | undefined {
  const shortener = new Shortener();
  const text = shortener.shorten(value, maxBytes);
  return text === undefined ? undefined : { text, missing: shortener.missing };
}

class Shortener {
  readonly missing: Missing[] = [];
  readonly #sizes = new Map<Container, number>();

  shorten(value: JsonValue, maxBytes: number): string | undefined {
    const part = this.#part([value], 0);
    if (part.bytes > maxBytes && (!isCuttable(value) || maxBytes < LEAST)) return undefined;
    return this.#write(part, [value], maxBytes, "");
  }

  #part(container: Container, key: string | number): Part {
    const value = (container as JsonObject)[key] as JsonValue;
    return { key, value, bytes: this.#bytesOf(value, container, key) };
  }

  #bytesOf(value: JsonValue, container: Container, key: string | number): number {
    if (typeof value === "string") return textBytes(value);
    if (typeof value !== "object" || value === null) return scalar(value, container, key).length;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    let bytes = 2;
    let count = 0;
    for (const [at, item] of Object.entries(value)) {
      bytes += this.#bytesOf(item, value, at) + (Array.isArray(value) ? 0 : textBytes(at) + 1);
      count++;
    }
    bytes += Math.max(count - 1, 0);
    this.#sizes.set(value, bytes);
    return bytes;
  }

  #write({ key, value, bytes }: Part, container: Container, room: number, path: string): string {
    if (typeof value !== "object" || value === null) {
      if (typeof value !== "string") return scalar(value, container, key);
      return bytes <= room ? shownString(value) : this.#cut(value, room, path);
    }
    if (bytes <= room) return withoutTurnMarkup(stringifyJson(value));
    return Array.isArray(value) ? this.#array(value, room, path) : this.#object(value, room, path);
  }

  #cut(text: string, room: number, path: string): string {
    const length = fitting(text, room - LEAST);
    this.missing.push({ path, what: "characters", missing: text.length - length, of: text.length });
    return shownString(text.slice(0, length) + ELLIPSIS);
  }

  #array(array: JsonValue[], room: number, path: string): string {
    const cap = Math.max(room / 8, Math.min(room / 3, ITEM));
    const kept: Part[] = [];
    let left = room - 2;
    for (const at of array.keys()) {
      const part = this.#part(array, at);
      left -= least(part, cap) + (at > 0 ? 1 : 0);
      if (left < 0) break;
      kept.push(part);
    }
    const all = array.length;
    if (kept.length < all) {
      this.missing.push({ path, what: "items", missing: all - kept.length, of: all });
    }
    const shares = share(kept, room - 2 - Math.max(kept.length - 1, 0));
    const texts = kept.map((part, at) => this.#write(part, array, shares.get(part) ?? 0, `${path}[${at}]`));
    return `[${texts.join(",")}]`;
  }

  #object(object: JsonObject, room: number, path: string): string {
    const cap = Math.min(MEMBER, room / 16);
    const kept: Part[] = [];
    let left = room - 2;
    let names = 0;
    const all = Object.keys(object);
    for (const key of all) {
      const part = this.#part(object, key);
      const name = textBytes(key) + 1 + (kept.length > 0 ? 1 : 0);
      if (name + least(part, cap) > left) continue;
      left -= name + least(part, cap);
      names += name;
      kept.push(part);
    }
    if (kept.length < all.length) {
      this.missing.push({ path, what: "members", missing: all.length - kept.length, of: all.length });
    }
    const shares = share(kept, room - 2 - names);
    const texts = kept.map((part) => {
      const text = this.#write(part, object, shares.get(part) ?? 0, memberPath(path, String(part.key)));
      return `${shownString(String(part.key))}:${text}`;
    });
    return `{${texts.join(",")}}`;
  }
}

/** Bytes with which a part can be shown at all. */
function least({ value, bytes }: Part, cap: number): number {
  return isCuttable(value) ? Math.min(bytes, Math.max(cap, LEAST)) : bytes;
}

/** Gives every part what it needs, but none more than an equal part of what is left by the smaller ones. */
function share(parts: readonly Part[], room: number): Map<Part, number> {
  const shares = new Map<Part, number>();
  const rest = parts.filter((part) => isCuttable(part.value)).sort((a, b) => a.bytes - b.bytes);
  let left = room;
  for (const part of parts) if (!isCuttable(part.value)) left -= part.bytes;
  for (const [at, part] of rest.entries()) {
    const given = Math.min(part.bytes, Math.floor(left / (rest.length - at)));
    shares.set(part, given);
    left -= given;
  }
  return shares;
}

function isCuttable(value: JsonValue): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

function scalar(value: JsonValue, container: Container, key: string | number): string {
  return spellingOf(container, key) ?? stringifyJson(value);
}

/** A member behind a path, in quotes where its name is no word. */
export function memberPath(path: string, name: string): string {
  const word = /^[A-Za-z_]\w{0,63}$/u.test(name) ? name : JSON.stringify(name.slice(0, 64).toWellFormed());
  return path === "" ? word : `${path}.${word}`;
}

/** A string as it stands in the JSON texts that models read. */
export function shownString(text: string): string {
  return withoutTurnMarkup(JSON.stringify(text));
}

const textBytes = (text: string): number => Buffer.byteLength(shownString(text));

/** The length of a start of a text, whole characters, whose inside takes `maxBytes` as JSON text at the most: nearly the longest. */
export function fitting(text: string, maxBytes: number): number {
  // No character takes less than a byte, so that only this much of the text is ever looked at.
  let length = Math.min(text.length, Math.max(maxBytes, 0));
  for (;;) {
    if (splitsPair(text, length)) length--;
    const bytes = textBytes(text.slice(0, length)) - 2;
    if (bytes <= maxBytes || length === 0) return length;
    length = Math.floor((length * maxBytes) / bytes);
  }
}

function splitsPair(text: string, at: number): boolean {
  const isPair = (text.codePointAt(at - 1) ?? 0) > 0xffff;
  return at > 0 && at < text.length && isPair;
}
