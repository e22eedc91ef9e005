import { Markers, peek, type Reading, type TextInput } from "../machine/text-input.ts";
import { skipBehindBrackets, skipClosing } from "./closing.ts";

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

/** Passes over a closing fence, with brackets too many before it, and over what closes a block; what is neither stays. */
export function* skipEnd(input: TextInput, ends: Markers): Reading<void> {
  yield* skipBehindBrackets(input, () => FENCE.skip(input));
  yield* skipClosing(input, ends);
}
