import { compileSelect, membersOf, SelectFault } from "../../core/jmespath/compile-select.ts";
import { JsonParser } from "../../core/json/parser.ts";
import { spellingOf } from "../../core/json/spelling.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { withoutTurnMarkup } from "../../core/protocol/turn-markup.ts";
import { stepsOf } from "../../core/schema/pointer.ts";
import { READ_TEXTS, type ReadTexts } from "./read-texts.ts";
import type { Locale } from "./result-text.ts";
import { searchJson, searchText } from "./search-stored.ts";
import { fitting, shortenJson, shownString } from "./shorten.ts";
import { type StoredText, typeWords } from "./summary.ts";

/** What `read_result` is asked for beside the reference. */
export interface ReadArguments {
  path?: string;
  search?: string;
  offset?: number;
  limit?: number;
}

/** What is answered: the members of an object as JSON texts, or why there is nothing. */
export type ReadAnswer = { members: readonly (readonly [name: string, json: string])[] } | { fault: string };

/** The part that is read, and how much of it may be shown. */
interface Reading {
  args: ReadArguments;
  room: number;
  texts: ReadTexts;
}

const MAX_LIMIT = 1_000_000;

/**
 * Reads a part of a stored result.
 *
 * 1. `path` goes into JSON first; then `search` finds places, or a page is shown: items of an array from `offset` on, characters of a text,
 *    any other value as it is, shortened where it is too long.
 * 2. What is answered takes about `room` bytes of JSON text at the most. `next_offset` is where the next page begins; every page that is
 *    not the last one shows something, so that reading on comes to an end.
 */
export function readStored(
  { kind, text }: Pick<StoredText, "kind" | "text">,
  args: ReadArguments,
  room: number,
  locale: Locale,
): ReadAnswer {
  const texts = READ_TEXTS[locale];
  const reading = { args, room, texts };
  if (kind === "text") return args.path === undefined ? textPart(text, reading) : { fault: texts.noPaths };
  const whole = parse(text);
  const found = args.path === undefined ? { value: whole } : atPath(whole, args.path, texts);
  if ("fault" in found) return found;
  const { value } = found;
  if (typeof value === "string") return textPart(value, reading);
  if (args.search !== undefined) return searchJson(value, args.search, { ...args, room });
  return Array.isArray(value) ? arrayPage(value, reading) : valueWhole(value, reading);
}

function parse(text: string): JsonValue {
  const parser = new JsonParser({ maxLength: text.length });
  parser.push(text);
  parser.end();
  return parser.value ?? null;
}

function atPath(value: JsonValue, path: string, texts: ReadTexts): { value: JsonValue } | { fault: string } {
  const found = path === "" || path.startsWith("/") ? atPointer(value, path) : selected(value, path, texts);
  if (typeof found === "object" && found !== null && "fault" in found) return found;
  if (found.value !== null) return found;
  return { fault: texts.nothingAt(path, membersOf(value).slice(0, 20)) };
}

function selected(
  value: JsonValue,
  path: string,
  texts: ReadTexts,
): { value: JsonValue } | { fault: string } {
  try {
    const said = compileSelect(path)(value);
    return "failed" in said ? { fault: texts.badPath(said.failed) } : { value: said.found };
  } catch (error) {
    if (!(error instanceof SelectFault)) throw error;
    return { fault: texts.badPath(`${error.message}, at position ${error.position}`) };
  }
}

function atPointer(value: JsonValue, pointer: string): { value: JsonValue } {
  const found = stepsOf(pointer).reduce<JsonValue>((at, step) => {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return null;
    return (at as JsonObject)[step] ?? null;
  }, value);
  return { value: found };
}

function arrayPage(array: JsonValue[], { args, room, texts }: Reading): ReadAnswer {
  const { offset = 0, limit = MAX_LIMIT } = args;
  if (offset >= array.length && offset > 0) return { fault: texts.behindEnd(array.length) };
  const items: string[] = [];
  let left = room;
  let missing: readonly unknown[] = [];
  const end = Math.min(array.length, offset + limit);
  for (let at = offset; at < end; at++) {
    const item = array[at] as JsonValue;
    let json = spellingOf(array, at) ?? withoutTurnMarkup(stringifyJson(item));
    if (Buffer.byteLength(json) > left) {
      if (items.length > 0) break;
      // One item alone is too long: it is shown in part, so that the next page is another one.
      const short = shortenJson(item, room);
      json = short?.text ?? shownString(json.slice(0, fitting(json, room)));
      missing = short?.missing ?? [];
    }
    left -= Buffer.byteLength(json) + 1;
    items.push(json);
  }
  const next = offset + items.length;
  return {
    members: [
      ["type", JSON.stringify(typeWords(array))],
      ["offset", String(offset)],
      ["items", `[${items.join(",")}]`],
      ...(missing.length > 0 ? [["missing", JSON.stringify(missing.slice(0, 4))] as const] : []),
      ...(next < array.length ? [["next_offset", String(next)] as const] : []),
    ],
  };
}

function textPart(text: string, { args, room, texts }: Reading): ReadAnswer {
  if (args.search !== undefined) return searchText(text, args.search, { ...args, room });
  const { offset = 0, limit = MAX_LIMIT } = args;
  if (offset >= text.length && offset > 0) return { fault: texts.behindEnd(text.length) };
  const asked = text.slice(offset, offset + limit);
  const shown = asked.slice(0, Math.max(fitting(asked, room), 1));
  const next = offset + shown.length;
  return {
    members: [
      ["type", JSON.stringify(typeWords(text))],
      ["offset", String(offset)],
      ["text", shownString(shown.toWellFormed())],
      ...(next < text.length ? [["next_offset", String(next)] as const] : []),
    ],
  };
}

function valueWhole(value: JsonValue, { room }: Reading): ReadAnswer {
  const short = shortenJson(value, room);
  const text = stringifyJson(value);
  const missing = short?.missing ?? [];
  return {
    members: [
      ["type", JSON.stringify(typeWords(value))],
      ["value", short?.text ?? shownString(text.slice(0, fitting(text, room)))],
      ...(missing.length > 0 ? [["missing", JSON.stringify(missing.slice(0, 8))] as const] : []),
    ],
  };
}
