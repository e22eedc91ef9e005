import type { JsonPath } from "../json/value.ts";
import { english } from "./message-en.ts";
import { fitting, quote, type Room, sent, shorten, shortenStart, type Wording } from "./message-parts.ts";
import { chinese } from "./message-zh.ts";
import { nearest } from "./nearest.ts";
import { spellWhole } from "./place.ts";
import type { Problem } from "./problem.ts";

/** Languages of the messages written for the model. */
export type Locale = "en" | "zh";

/** Characters of a message. Most take two thirds of that. */
export const MAX_MESSAGE: Readonly<Record<Locale, number>> = { en: 180, zh: 80 };

/** Tried in this order until the message is short enough. */
const ROOMS: readonly Room[] = [
  { name: 60, value: 40, wanted: 90 },
  { name: 48, value: 24, wanted: 60 },
  { name: 32, value: 16, wanted: 40 },
  { name: 24, value: 12, wanted: 24 },
  { name: 16, value: 8, wanted: 12 },
];

/**
 * One short message that a model can act on: which parameter, what was expected, what came, and the nearest valid value or known
 * name where one is near. It has at most `MAX_MESSAGE` characters: what was sent is shortened, of lists the beginning is shown,
 * of a path the end. It is always well-formed Unicode.
 */
export function explain(problem: Problem, locale: Locale): string {
  const words = locale === "zh" ? chinese : english;
  const most = MAX_MESSAGE[locale];
  let message = "";
  for (const room of ROOMS) {
    for (const near of [true, false]) {
      message = say(problem, words, room, near);
      if (message.length <= most) return message;
    }
  }
  return shorten(message, most);
}

/** `near`: also where all that is allowed is listed, the value among it that was probably meant is named. */
function say(problem: Problem, words: Wording, room: Room, near: boolean): string {
  const { path } = problem;
  const name = nameOf(path, room);
  switch (problem.kind) {
    case "missing": {
      const [only] = problem.names.length === 1 ? problem.names : [];
      // A name that had to be cut is no help.
      const meant =
        only !== undefined && only.length <= room.name && problem.unexpected.length > 0 ? only : undefined;
      return words.missing(
        members(problem, problem.names, room),
        members(problem, problem.unexpected, room),
        meant,
      );
    }
    case "unexpected": {
      const [first = ""] = problem.names;
      const meant = problem.names.length === 1 ? nearest(first, problem.known) : [];
      return words.unexpected(
        members(problem, problem.names, room),
        fitting(meant, room.wanted).shown,
        fitting(problem.known, room.wanted),
      );
    }
    case "type":
      return words.type(name, problem.types, sent(problem.value, room.value));
    case "enum": {
      const texts = problem.allowed.filter((value) => typeof value === "string");
      const meant = typeof problem.value === "string" ? nearest(problem.value, texts) : [];
      const allowed = fitting(
        problem.allowed.map((value) => quote(value, room.wanted)),
        room.wanted,
      );
      const named = near || allowed.shown.length < allowed.count ? meant : [];
      return words.enum(name, allowed, sent(problem.value, room.value), fitting(named, room.value).shown);
    }
    case "rule":
      return words.rule(
        problem.rule,
        name,
        quote(problem.limit, room.wanted),
        sent(problem.value, room.value),
      );
    case "bound":
      return words.bound(problem.bound, name, problem.limit);
    default:
      return problem satisfies never;
  }
}

/** Members of the object at fault, by their paths. */
function members({ path }: Problem, names: readonly string[], room: Room) {
  const spelled = names.map((name) =>
    shortenStart(spellWhole([...path, shorten(name, room.name)]), room.name),
  );
  return fitting(spelled, room.wanted);
}

/** `undefined` for the root: the arguments as a whole. */
function nameOf(path: JsonPath, room: Room): string | undefined {
  return path.length === 0 ? undefined : shortenStart(spellWhole(path), room.name);
}
