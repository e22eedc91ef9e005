import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonValue } from "../../core/json/value.ts";
import type { ReadAnswer } from "./read-stored.ts";
import { fitting, memberPath, shownString } from "./shorten.ts";

/** From which place on, how many places, and how many bytes of JSON text. */
interface Page {
  offset?: number;
  limit?: number;
  room: number;
}

/** Places that are counted; a text that is everywhere is no search. */
const MAX_PLACES = 10_000;
/** Characters around what was found. */
const AROUND = 100;

/** The places in a text where something stands, with what is around it. */
export function searchText(text: string, search: string, page: Page): ReadAnswer {
  const places = [...takeFirst(text.matchAll(pattern(search)))];
  return found(search, places.length, page, (at) => {
    const { index } = places[at] as RegExpExecArray;
    return `{"offset":${index},"text":${shownString(around(text, index, search.length))}}`;
  });
}

interface Place {
  path: string;
  /** Of a member. */
  name: string;
  /** Of a value that is no object and no array; of these the name again. */
  text: string;
}

/** Every member and element in a value, at any depth, in the order of the text. */
function* placesIn(value: JsonValue, path: string, name: string): Generator<Place> {
  if (typeof value !== "object" || value === null) {
    yield { path, name, text: typeof value === "string" ? value : stringifyJson(value) };
    return;
  }
  yield { path, name, text: name };
  for (const [key, item] of Object.entries(value)) {
    if (Array.isArray(value)) yield* placesIn(item, `${path}[${key}]`, "");
    else yield* placesIn(item, memberPath(path, key), key);
  }
}

/** The members and elements in a value whose name or own text has something in it, with their paths. */
export function searchJson(value: JsonValue, search: string, page: Page): ReadAnswer {
  const test = pattern(search);
  const places: Place[] = [];
  for (const place of placesIn(value, "", "")) {
    if (!matches(place.text, test) && !matches(place.name, test)) continue;
    places.push(place);
    if (places.length >= MAX_PLACES) break;
  }
  return found(search, places.length, page, (at) => {
    const { path, text } = places[at] as Place;
    const index = Math.max(text.search(pattern(search)), 0);
    return `{"path":${shownString(path)},"text":${shownString(around(text, index, search.length))}}`;
  });
}

const pattern = (search: string) => new RegExp(RegExp.escape(search), "giu");

function matches(text: string, test: RegExp): boolean {
  test.lastIndex = 0;
  return text !== "" && test.test(text);
}

function* takeFirst<T>(all: Iterable<T>): Iterable<T> {
  let count = 0;
  for (const one of all) {
    if (count++ >= MAX_PLACES) return;
    yield one;
  }
}

function around(text: string, index: number, length: number): string {
  const from = Math.max(index - AROUND, 0);
  const to = index + length + AROUND;
  const part = text.slice(from, to).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${to < text.length ? "…" : ""}`;
}

/** As many places from `offset` on as there is room for. */
function found(search: string, total: number, page: Page, place: (at: number) => string): ReadAnswer {
  const { offset = 0, limit = MAX_PLACES } = page;
  const shown: string[] = [];
  let left = page.room;
  for (let at = offset; at < Math.min(total, offset + limit); at++) {
    const json = place(at);
    left -= Buffer.byteLength(json) + 1;
    if (left < 0 && shown.length > 0) break;
    shown.push(json);
  }
  const next = offset + shown.length;
  return {
    members: [
      ["search", shownString(search.slice(0, fitting(search, 200)))],
      ["places", String(total)],
      ["found", `[${shown.join(",")}]`],
      ...(next < total ? [["next_offset", String(next)] as const] : []),
    ],
  };
}
