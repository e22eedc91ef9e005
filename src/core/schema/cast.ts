import { JsonParser } from "../json/parser.ts";
import type { JsonValue } from "../json/value.ts";
import { exactNumber } from "./exact-number.ts";
import { ARRAY, BOOLEAN, FRACTION, INTEGER, OBJECT, STRING, type TypeSet, typeOf } from "./json-types.ts";

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

/**
 * The value that a string says, as one of the wanted types, if it says exactly one: the words `true` and `false`, a JSON
 * number that loses nothing, the JSON text of an object or array. Never where a string is wanted. `undefined` otherwise.
 */
export function castString(text: string, wanted: TypeSet): JsonValue | undefined {
  if (wanted & STRING) return undefined;
  const said = readScalar(text, wanted) ?? readContainer(text, wanted);
  return said !== undefined && typeOf(said) & wanted ? said : undefined;
}

/** Whether a text is meant as the JSON text of an array, well-formed or not. */
export function looksLikeArray(text: string): boolean {
  return /^\s*\[/.test(text);
}

function readScalar(text: string, wanted: TypeSet): JsonValue | undefined {
  if (wanted & BOOLEAN && WORDS.has(text)) return WORDS.get(text);
  return wanted & (INTEGER | FRACTION) ? exactNumber(text) : undefined;
}

function readContainer(text: string, wanted: TypeSet): JsonValue | undefined {
  if (!(wanted & (OBJECT | ARRAY)) || !/^\s*[[{]/.test(text)) return undefined;
  const parser = new JsonParser();
  parser.push(text);
  parser.end();
  return parser.value;
}
