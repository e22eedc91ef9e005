import type { RepairName } from "../../../json/repair-names.ts";
import { type Markers, peek, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import { parsed } from "./json-text.ts";

/** Takes a piece of a value; `repairs`: it stands for something else that was no JSON. */
export type TakeJson = (text: string, repairs?: readonly RepairName[]) => void;

/** How a value came to its end: by itself, at a marker, or with the text. */
export type ValueEnd = "closed" | "stopped" | "cut";

const CONTROL: readonly RepairName[] = ["raw_control_character"];
const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const SINGLE = "{}[],:;";
const BEHIND_VALUE = /^$|[\s,;:}\]]/;
const BEHIND_WORD = /[\s,:;"{}[\]]/;

/**
 * Passes over one value that is JSON or nearly so, and hands on its text piece by piece as it comes.
 *
 * 1. It ends with its last bracket or quote; a number or a word ends before what cannot belong to it.
 * 2. Brackets and markers inside of strings are data. Outside of them a marker ends the value, whatever is still open.
 * 3. Control characters inside of strings are escaped, which JSON demands and models forget. Single quotes are quotes where a
 *    value or a key begins, as in Python. Nothing else is judged or changed.
 */
export function* passValue(input: TextInput, stops: Markers, take: TakeJson): Reading<ValueEnd> {
  let depth = 0;
  do {
    const next = depth > 0 ? yield* passBlanks(input, take) : yield* peek(input);
    const stopped = (yield* stops.here(input)) !== undefined;
    if (depth === 0 && (stopped || BEHIND_VALUE.test(next))) break;
    if (next === "" || stopped) return stopped ? "stopped" : "cut";
    const levels = yield* passToken(input, stops, take, next);
    if (levels === undefined) return "cut";
    depth += levels;
  } while (depth > 0);
  return "closed";
}

/** Passes over a bracket, a string, a word or a separator; returns how many levels deeper it leads, `undefined` where a string is cut. */
function* passToken(
  input: TextInput,
  stops: Markers,
  take: TakeJson,
  next: string,
): Reading<number | undefined> {
  if (next === '"' || next === "'") return (yield* passString(input, take)) ? 0 : undefined;
  if (!SINGLE.includes(next)) {
    yield* passWord(input, stops, take);
    return 0;
  }
  take(input.take(input.at + 1));
  return "{[".includes(next) ? 1 : "}]".includes(next) ? -1 : 0;
}

function* passBlanks(input: TextInput, take: (text: string) => void): Reading<string> {
  for (;;) {
    const from = input.at;
    const { text } = input;
    while (input.at < text.length && /\s/.test(text.charAt(input.at))) input.at++;
    take(text.slice(from, input.at));
    if (!input.drained || input.ended) return input.next;
    yield;
  }
}

/** A number, a literal or something else without quotes; a quote in it is an apostrophe. */
function* passWord(input: TextInput, stops: Markers, take: (text: string) => void): Reading<void> {
  for (;;) {
    const next = yield* peek(input);
    if (next === "" || BEHIND_WORD.test(next) || (yield* stops.here(input)) !== undefined) return;
    take(input.take(input.at + 1));
  }
}

/** A string with its quotes. `false`: the text ended in it. */
function* passString(input: TextInput, take: TakeJson): Reading<boolean> {
  const quote = yield* peek(input);
  take(input.take(input.at + 1));
  while ((yield* peek(input)) !== "") {
    take(input.take(plainEnd(input)));
    if (input.drained) continue;
    const character = input.take(input.at + 1);
    if (character === "\\") {
      const escaped = yield* peek(input);
      input.at += escaped.length;
      take(`\\${escaped}`);
    } else if (character < " " && quote === '"') take(escapeOf(character), CONTROL);
    else take(character);
    if (character === quote) return true;
  }
  return false;
}

/** Where the next control character, quote or backslash stands. */
function plainEnd({ text, at }: TextInput): number {
  let to = at;
  while (to < text.length && !needsLook(text.charCodeAt(to))) to++;
  return to;
}

const needsLook = (code: number) => code < 32 || code === 34 || code === 39 || code === 92;

function escapeOf(control: string): string {
  return ESCAPES[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Reads a string of JSON and says what it means; of a faulty one, what stands between its quotes. */
export function* readString(input: TextInput): Reading<{ text: string; whole: boolean }> {
  let spelled = "";
  const whole = yield* passString(input, (text) => {
    spelled += text;
  });
  return { text: whole ? String(parsed(spelled) ?? spelled.slice(1, -1)) : spelled.slice(1), whole };
}

/** A value as text, and what in it was put right. */
export interface ReadValue {
  text: string;
  end: ValueEnd;
  repairs: readonly RepairName[];
}

/** Reads a whole value as text. */
export function* readValue(input: TextInput, stops: Markers): Reading<ReadValue> {
  let text = "";
  let repairs: readonly RepairName[] = [];
  yield* skipBlanks(input);
  const end = yield* passValue(input, stops, (piece, put) => {
    text += piece;
    repairs = put ?? repairs;
  });
  return { text, end, repairs };
}
