import { skipTrailers } from "../machine/lookahead.ts";
import { Markers, peek, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";

/** The mark of a code fence. */
export const FENCE = new Markers(["```"]);
/** What may stand behind the backticks of a fence with calls. */
const LANGUAGES = /^(json|tool_calls?|tool|)$/i;

/** Passes over the opening of a fence in a language that calls are written in, unless others will do too. */
export function* skipFence(input: TextInput, languages = LANGUAGES): Reading<boolean> {
  const mark = input.mark();
  let language = "";
  const opened = (yield* FENCE.skip(input)) !== undefined;
  while (opened && /\w/.test(yield* peek(input)) && language.length < 16) {
    language += input.take(input.at + 1);
  }
  if (opened && languages.test(language)) {
    input.release();
    return true;
  }
  input.back(mark);
  return false;
}

/**
 * Passes over a closing fence and the end markers, with brackets too many before them, and over a part of one that ends the reply. Where
 * a tag ends the block, any other closing tag in its place does too. What is none of this stays.
 */
export function* skipEnd(input: TextInput, ends: Markers): Reading<void> {
  yield* skipOne(input, () => FENCE.skip(input));
  const ended = yield* skipOne(input, () => ends.skip(input));
  if (!ended && ends.begins("</")) yield* skipOne(input, () => skipTag(input));
  yield* skipTrailers(input, ends);
}

function* skipOne(input: TextInput, skip: () => Reading<unknown>): Reading<boolean> {
  const mark = input.mark();
  while (/[}\]]/.test(yield* skipBlanks(input))) input.at++;
  const found = (yield* skip()) !== undefined;
  if (found) input.release();
  else input.back(mark);
  return found;
}

const TAG = /^<(?:\/(?:[\w:.-]*>?)?)?$/;
const MAX_TAG = 64;

/** A closing tag of any name; one that the reply ends in is one. */
function* skipTag(input: TextInput): Reading<string | undefined> {
  let tag = "";
  while (!tag.endsWith(">")) {
    const next = yield* peek(input);
    if (next === "") return tag.length > 1 ? tag : undefined;
    tag += next;
    if (!TAG.test(tag) || tag.length > MAX_TAG) return undefined;
    input.at++;
  }
  return tag;
}
