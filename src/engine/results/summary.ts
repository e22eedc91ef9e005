import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import { fitting, shortenJson, shownString } from "./shorten.ts";

/** The whole of a result that is too long for a message. */
export interface StoredText {
  reference: string;
  /** What `text` is: JSON, or text of its own. */
  kind: "json" | "text";
  text: string;
  /** There was more of it than could be read. */
  cut: boolean;
}

const MAX_START_BYTES = 2_048;
const MAX_MEMBERS = 30;
const MAX_NAME = 64;

/** What stands in a message in place of a stored result, as JSON text: its reference, its kind and size, its members and its start. */
export function summaryOf(reference: string, value: JsonValue, maxBytes: number): string {
  const room = Math.min(MAX_START_BYTES, Math.max(Math.floor(maxBytes / 2), 0));
  const members = isObject(value) ? Object.entries(value) : [];
  const summary = {
    reference,
    type: typeWords(value),
    ...(members.length > 0 && {
      members: Object.fromEntries(
        members.slice(0, MAX_MEMBERS).map(([name, one]) => [shortName(name), typeWords(one)]),
      ),
    }),
  };
  const start = startOf(value, room);
  return `${JSON.stringify(summary).slice(0, -1)}${start === undefined ? "" : `,"start":${start}`}}`;
}

function startOf(value: JsonValue, room: number): string | undefined {
  if (typeof value !== "string") return shortenJson(value, room)?.text;
  return shownString(value.slice(0, fitting(value, room)));
}

/** `array of 12 items`, `object with 3 members`, `text of 40000 characters`, or the name of the type. */
export function typeWords(value: JsonValue): string {
  if (Array.isArray(value)) return `array of ${value.length} items`;
  if (isObject(value)) return `object with ${Object.keys(value).length} members`;
  if (typeof value === "string") return `text of ${value.length} characters`;
  return value === null ? "null" : typeof value === "boolean" ? "boolean" : "number";
}

const shortName = (name: string) => name.slice(0, MAX_NAME).toWellFormed();

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
