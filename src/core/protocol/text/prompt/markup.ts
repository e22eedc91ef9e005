import { inString } from "../blocks/json-text.ts";

/** Which strings of a format are its markup, and how other text that holds them is written. */
export interface Markup {
  /** Text for people with every such string broken by one space, so that it is markup no more and still readable. */
  neutral(text: string): string;
  /** The same JSON text, with the first character of every such string spelt as `\uXXXX`: it reads back as the same value. */
  inJson(json: string): string;
}

const NONE: Markup = { neutral: (text) => text, inJson: (json) => json };

/**
 * The markup of one format.
 *
 * 1. In free text (what a user wrote, what a model said) `<tool_call>` becomes `< tool_call>`: the only change, and a visible one.
 *    A label gets the space before its colon instead: `Action :`.
 * 2. In JSON, and in other literals that know `\uXXXX`, nothing is lost: the value stays as it is.
 */
export function markupOf(strings: readonly string[]): Markup {
  if (strings.length === 0) return NONE;
  // Of two that begin alike the longer one counts.
  const sorted = [...strings].sort((a, b) => b.length - a.length);
  const free = new RegExp(sorted.map(RegExp.escape).join("|"), "gu");
  const spelt = sorted.map(inString);
  const json = new RegExp(`\\\\(?:u[0-9a-fA-F]{4}|[^u])|(${spelt.map(RegExp.escape).join("|")})`, "gu");
  const inJson = (found: string, marker: string | undefined, at: number, whole: string) =>
    marker === undefined ? escapeBeside(found, whole.slice(at + found.length), spelt) : escapedMarker(marker);
  return {
    neutral: (text) => settle(text, (one) => one.replace(free, broken)),
    inJson: (text) => settle(text, (one) => one.replace(json, inJson)),
  };
}

/** A string that can overlap itself, such as three backticks, may stand there once more after the first pass. */
function settle(text: string, pass: (text: string) => string): string {
  let [before, after] = [text, pass(text)];
  while (after !== before) [before, after] = [after, pass(after)];
  return after;
}

function broken(marker: string): string {
  const at = marker.endsWith(":") ? marker.length - 1 : 1;
  return `${marker.slice(0, at)} ${marker.slice(at)}`;
}

function escapedMarker(marker: string): string {
  return `\\u${marker.charCodeAt(0).toString(16).padStart(4, "0")}${marker.slice(1)}`;
}

/** Characters of an escape in its longest form. */
const MAX_ESCAPE = 6;

/** An escape, spelt so that with the text behind it none of the strings begins in it: `\\f` and `unctools[` would be one. */
function escapeBeside(unit: string, rest: string, strings: readonly string[]): string {
  const isClear = (one: string) => {
    const text = one + rest.slice(0, MAX_ESCAPE + Math.max(...strings.map(({ length }) => length)));
    return !strings.some((string) => {
      const at = text.indexOf(string);
      return at >= 0 && at < one.length;
    });
  };
  const code = (JSON.parse(`"${unit}"`) as string).charCodeAt(0).toString(16).padStart(4, "0");
  return [unit, `\\u${code}`, `\\u${code.toUpperCase()}`].find(isClear) ?? unit;
}
