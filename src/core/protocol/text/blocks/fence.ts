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

/** Passes over a closing fence and one of the end markers, with brackets too many before them; what is neither stays. */
export function* skipEnd(input: TextInput, ends: Markers): Reading<void> {
  for (const markers of [FENCE, ends]) {
    const mark = input.mark();
    while (/[}\]]/.test(yield* skipBlanks(input))) input.at++;
    if ((yield* markers.skip(input)) === undefined) input.back(mark);
    else input.release();
  }
}
