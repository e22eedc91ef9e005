import type { JsonValue } from "../json/value.ts";
import { chargeText, type JmesFunction, type Kind } from "./function-shape.ts";
import type { Item } from "./item.ts";
import { type Meter, SelectFailed } from "./meter.ts";

const TWO_STRINGS: readonly (readonly Kind[])[] = [["string"], ["string"]];

function whole(value: Item | undefined, name: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new SelectFailed(`"${name}" takes whole numbers`);
}

/** A whole number that is not negative. */
function count(value: Item | undefined, name: string): number | undefined {
  const number = whole(value, name);
  if (number !== undefined && number < 0) throw new SelectFailed(`"${name}" takes no negative number`);
  return number;
}

function finding(name: string, find: (text: string, part: string) => number): JmesFunction {
  return {
    takes: [["string"], ["string"], ["number"], ["number"]],
    optional: 2,
    call([text, part, from, to]: [string, string, Item?, Item?], meter) {
      chargeText(text.length, meter);
      if (text === "" || part === "") return null;
      const start = Math.max(whole(from, name) ?? 0, 0);
      const found = find(text.slice(start, Math.max(whole(to, name) ?? text.length, 0)), part);
      return found < 0 ? null : found + start;
    },
  };
}

function padding(name: string, pad: (text: string, width: number, by: string) => string): JmesFunction {
  return {
    takes: [["string"], ["number"], ["string"]],
    optional: 1,
    call([text, width, by = " "]: [string, Item, string?], meter) {
      const length = count(width, name) ?? 0;
      if ([...by].length !== 1) throw new SelectFailed(`"${name}" fills up with one character`);
      chargeText(Math.max(length, text.length), meter);
      return pad(text, length, by);
    },
  };
}

const SPACE = /\s|\x85/u;

/** `left` and `right` say at which ends characters are taken off. */
function trimming(left: boolean, right: boolean): JmesFunction {
  return {
    takes: TWO_STRINGS,
    optional: 1,
    call([text, characters = ""]: [string, string?], meter) {
      const units = [...text];
      meter.charge(units.length);
      const listed = new Set(characters);
      const goes = (unit: string) => (listed.size > 0 ? listed.has(unit) : SPACE.test(unit));
      let [from, to] = [0, units.length];
      while (left && from < to && goes(units[from] as string)) from++;
      while (right && to > from && goes(units[to - 1] as string)) to--;
      return units.slice(from, to).join("");
    },
  };
}

/** The parts of a text, at most `limit` cuts of it. */
function parts(text: string, by: string, limit: number | undefined, meter: Meter): string[] {
  chargeText(text.length, meter);
  if (limit === 0) return [text];
  const all = text === "" && by === "" ? [] : text.split(by);
  meter.charge(all.length);
  if (limit === undefined || all.length <= limit) return all;
  return [...all.slice(0, limit), all.slice(limit).join(by)];
}

function joined(glue: string, texts: readonly string[], meter: Meter): string {
  chargeText(
    texts.reduce((sum, text) => sum + text.length + glue.length, 0),
    meter,
  );
  return texts.join(glue);
}

/** Functions on strings. */
export const STRING_FUNCTIONS: Readonly<Record<string, JmesFunction>> = {
  starts_with: { takes: TWO_STRINGS, call: ([text, part]: [string, string]) => text.startsWith(part) },
  ends_with: { takes: TWO_STRINGS, call: ([text, part]: [string, string]) => text.endsWith(part) },
  find_first: finding("find_first", (text, part) => text.indexOf(part)),
  find_last: finding("find_last", (text, part) => text.lastIndexOf(part)),
  join: {
    takes: [["string"], ["strings"]],
    call: ([glue, texts]: [string, JsonValue[]], meter) => joined(glue, texts as string[], meter),
  },
  lower: {
    takes: [["string"]],
    call([text]: [string], meter) {
      chargeText(text.length, meter);
      return text.toLowerCase();
    },
  },
  upper: {
    takes: [["string"]],
    call([text]: [string], meter) {
      chargeText(text.length, meter);
      return text.toUpperCase();
    },
  },
  pad_left: padding("pad_left", (text, width, by) => text.padStart(width, by)),
  pad_right: padding("pad_right", (text, width, by) => text.padEnd(width, by)),
  replace: {
    takes: [["string"], ["string"], ["string"], ["number"]],
    optional: 1,
    call: ([text, old, by, times]: [string, string, string, Item?], meter) =>
      joined(by, parts(text, old, count(times, "replace"), meter), meter),
  },
  split: {
    takes: [["string"], ["string"], ["number"]],
    optional: 1,
    call: ([text, by, times]: [string, string, Item?], meter) =>
      parts(text, by, count(times, "split"), meter),
  },
  trim: trimming(true, true),
  trim_left: trimming(true, false),
  trim_right: trimming(false, true),
};
