import { keepSpelling, spellingOf } from "../../core/json/spelling.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import { type JsonObject, type JsonPath, type JsonValue, setMember } from "../../core/json/value.ts";

/** `{{get_city[1].data.name}}`: a place in the answer to another call of the same message. */
export interface Reference {
  /** As it stands in the arguments, braces included. */
  readonly text: string;
  /** Name of the tool that is called. */
  readonly name: string;
  /** Which of its calls in the message, from 0. */
  readonly index: number;
  /** From the envelope of the answer: `data`, `success` or `error` first. */
  readonly path: JsonPath;
}

/** A reference and the parameter that it stands in. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly at: JsonPath;
  /** It is all that the parameter holds, so that the value keeps its type. */
  readonly whole: boolean;
}

const NAME = "[A-Za-z0-9_-]{1,64}";
const STEP = String.raw`\.[^\s.[\]{}"]{1,200}|\[\d{1,9}\]|\["[^"\\{}]{1,200}"\]`;
const REFERENCE = new RegExp(String.raw`\{\{\s?(${NAME})(?:\[(\d{1,4})\])?((?:${STEP}){1,32})\s?\}\}`, "gu");
const STEPS = new RegExp(STEP, "gu");

/** The beginning of every reference; arguments without it hold none. */
export const REFERENCE_MARK = "{{";

/** All references in a value, in the order of its text. What has the braces but not the form of a reference is text. */
export function findReferences(value: JsonValue, at: JsonPath = []): PlacedReference[] {
  if (typeof value === "string") {
    return [...value.matchAll(REFERENCE)].map((match) => ({
      reference: read(match),
      at,
      whole: match[0] === value.trim(),
    }));
  }
  if (typeof value !== "object" || value === null) return [];
  const entries: Iterable<[string | number, JsonValue]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  return [...entries].flatMap(([key, member]) => findReferences(member, [...at, key]));
}

function read([text, name = "", index = "0", steps = ""]: RegExpExecArray): Reference {
  const path = (steps.match(STEPS) ?? []).map((step) => {
    if (step.startsWith(".")) return step.slice(1);
    return step.startsWith('["') ? step.slice(2, -2) : Number(step.slice(1, -1));
  });
  return { text, name, index: Number(index), path };
}

/** What stands in for a reference: a value, with its spelling where a double does not hold it, or nothing because its call failed. */
export type Filled = { value: JsonValue; spelling?: string | undefined } | "failed";

/**
 * The value with every reference replaced by what `lookUp` gives for it. The whole of a parameter takes the value with its type,
 * null for a failed call; inside a longer text strings stand as they are, other values as JSON, and nothing for a failed call.
 * What holds no reference is not copied.
 */
export function fillIn(value: JsonValue, lookUp: (reference: Reference) => Filled): JsonValue {
  if (typeof value === "string") return fillText(value, lookUp).value;
  if (typeof value !== "object" || value === null || findReferences(value).length === 0) return value;
  const copy: JsonObject | JsonValue[] = Array.isArray(value) ? [] : {};
  for (const [key, member] of Object.entries(value)) {
    const filled: { value: JsonValue; spelling?: string | undefined } =
      typeof member === "string"
        ? fillText(member, lookUp)
        : { value: fillIn(member, lookUp), spelling: spellingOf(value, key) };
    if (Array.isArray(copy)) copy.push(filled.value);
    else setMember(copy, key, filled.value);
    if (typeof filled.value === "number" && filled.spelling !== undefined) {
      keepSpelling(copy, key, filled.value, filled.spelling);
    }
  }
  return copy;
}

function fillText(
  text: string,
  lookUp: (reference: Reference) => Filled,
): { value: JsonValue; spelling?: string | undefined } {
  const [only] = text.matchAll(REFERENCE);
  if (only && only[0] === text.trim()) {
    const filled = lookUp(read(only));
    return filled === "failed" ? { value: null } : filled;
  }
  const value = text.replace(REFERENCE, (...groups) => {
    const filled = lookUp(read(groups.slice(0, 4) as unknown as RegExpExecArray));
    if (filled === "failed") return "";
    return typeof filled.value === "string" ? filled.value : (filled.spelling ?? stringifyJson(filled.value));
  });
  return { value };
}
