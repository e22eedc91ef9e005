import { stringifyJson } from "../../../json/stringify.ts";
import type { JsonObject, JsonValue } from "../../../json/value.ts";
import { type Markup, markupOf } from "./markup.ts";

/** Writes the arguments of one call; `markup` is the format's own. */
export type ArgumentSpelling = (args: JsonObject, markup: Markup) => string;

/** The arguments as compact JSON text. Says every value. */
export const jsonArguments: ArgumentSpelling = (args, markup) => markup.inJson(stringifyJson(args));

// ── Parameters between tags ──────────────────────────────────────────────────

/** One parameter, ready to be put between tags. */
export interface TaggedParameter {
  key: string;
  text: string;
  /** The value is a string, and `text` is the string itself; else `text` is JSON. */
  isString: boolean;
  /** The value's type in the words of JSON Schema. */
  type: string;
}

/** What would break a tag or an attribute. */
const KEY_BREAKERS = /[<>"\r\n]/gu;

/**
 * Each parameter between tags of its own: strings as they are, all else as JSON. What this cannot say: a string with the tag that
 * ends values in it (it gets a space: `< /parameter>`), and a name with `<`, `>`, `"` or a line end (they become `_`). The type
 * of a value is the schema's to tell, unless the format has a place for it.
 */
export function taggedArguments(
  end: string,
  write: (parameter: TaggedParameter) => string,
): ArgumentSpelling {
  const ending = markupOf([end]);
  return (args) =>
    Object.entries(args)
      .map(([key, value]) => {
        const isString = typeof value === "string";
        const text = isString ? ending.neutral(value) : ending.inJson(stringifyJson(value));
        return write({ key: tagName(key), text, isString, type: typeOf(value) });
      })
      .join("");
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function tagName(key: string): string {
  return key.replace(KEY_BREAKERS, "_");
}

/**
 * Tags all the way down: an object is its members, an array `item` by `item`, each tag behind a sentinel. What this cannot say: a
 * string with the sentinel in it (it gets a space), an empty object or array, and names that are no tags.
 */
export function nestedTags(sentinel: string): ArgumentSpelling {
  const ending = markupOf([sentinel]);
  const element = (key: string, value: JsonValue): string =>
    `${sentinel}<${tagName(key)}>${inside(value)}${sentinel}</${tagName(key)}>`;
  const inside = (value: JsonValue): string => {
    if (typeof value === "string") return ending.neutral(value);
    if (typeof value !== "object" || value === null) return stringifyJson(value);
    if (Array.isArray(value)) return value.map((item) => element("item", item)).join("");
    return members(value);
  };
  const members = (object: JsonObject): string =>
    Object.entries(object)
      .map(([key, value]) => element(key, value))
      .join("");
  return members;
}

// ── Literals ─────────────────────────────────────────────────────────────────

const PYTHON_NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** Keyword arguments as Python literals. Says every value; a name that is no Python name goes into `**{…}`. */
export const pythonArguments: ArgumentSpelling = (args, markup) => {
  const parts = Object.entries(args).map(([key, value]) =>
    PYTHON_NAME.test(key)
      ? `${key}=${pythonLiteral(value)}`
      : `**{${JSON.stringify(key)}: ${pythonLiteral(value)}}`,
  );
  return markup.inJson(parts.join(", "));
};

function pythonLiteral(value: JsonValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return stringifyJson(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`,
  );
  return `{${members.join(", ")}}`;
}

const BARE_NAME = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/**
 * `{key:value,…}` with one quote of the format's own around strings, and around names that are no plain words. What this cannot say:
 * the quote itself in a string or a name (it gets a space), since there is no escape.
 */
export function braceArguments(quote: string): ArgumentSpelling {
  const ending = markupOf([quote]);
  const quoted = (text: string): string => `${quote}${ending.neutral(text)}${quote}`;
  const spell = (value: JsonValue): string => {
    if (typeof value === "string") return quoted(value);
    if (typeof value !== "object" || value === null) return stringifyJson(value);
    if (Array.isArray(value)) return `[${value.map(spell).join(",")}]`;
    const members = Object.entries(value).map(
      ([key, item]) => `${BARE_NAME.test(key) ? key : quoted(key)}:${spell(item)}`,
    );
    return `{${members.join(",")}}`;
  };
  return spell;
}
