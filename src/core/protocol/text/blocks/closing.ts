import { skipTrailers } from "../machine/lookahead.ts";
import { type Markers, peek, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";

/**
 * Passes over what closes a block: its end markers, as often as they come, with brackets too many before them, and a part of one that ends
 * the reply. Where a tag closes the block, any other closing tag in its place does too. What is none of this stays.
 */
export function* skipClosing(input: TextInput, ends: Markers): Reading<void> {
  const ended = yield* skipBehindBrackets(input, () => ends.skip(input));
  if (!ended && ends.begins("</")) yield* skipBehindBrackets(input, () => skipTag(input));
  yield* skipTrailers(input, ends);
}

/** Passes over something and the white space and closing brackets before it; `false`: it is not there, and nothing was passed over. */
export function* skipBehindBrackets(input: TextInput, skip: () => Reading<unknown>): Reading<boolean> {
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
