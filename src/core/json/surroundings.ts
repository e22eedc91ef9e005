import type { RepairName } from "./repair-names.ts";

const FENCE = "```";
const BYTE_ORDER_MARK = "\ufeff";
/** Text with one of these may be JSON itself: another object, a list around this one, a string that holds it. */
const STRUCTURE = /[{}[\]"“”„‟]/;
/** A word or two in quotes, as people name things. */
const QUOTED = /"[^"“”„‟\n]{1,64}"(?!\s*:)|“[^"“”„‟\n]{1,64}”(?!\s*:)/g;
const NOT_BLANK = /[^ \t\r\n]/;

/**
 * Names what stands around an object, so that it can be left out; `undefined` when it may belong to the object: when it holds
 * brackets or double quotes, but for words quoted in a text before the object, or makes the object the value of something
 * (`filter: {…}`, `call(filter={…})`, `{…}, …`).
 */
export function nameSurroundings(before: string, after: string): RepairName[] | undefined {
  const said = before.replace(QUOTED, "");
  if (STRUCTURE.test(said) || STRUCTURE.test(after)) return undefined;
  // Nothing but strings before it: they may be values beside it.
  if (said !== before && !/\p{L}/u.test(said)) return undefined;
  if (namesValue(before.trimEnd()) || /^\s*[,:=]/.test(after)) return undefined;
  const names: RepairName[] = [];
  const hasMark = before.startsWith(BYTE_ORDER_MARK);
  if (hasMark) names.push("byte_order_mark");
  const lead = withoutOpeningFence(hasMark ? before.slice(1) : before);
  const tail = withoutClosingFence(after);
  if (lead.fenced || tail.fenced) names.push("code_fence");
  if (NOT_BLANK.test(lead.rest) || NOT_BLANK.test(tail.rest)) names.push("surrounding_text");
  return names;
}

/** Whether text that ends so makes what follows the value of a member, of a parameter or of a tag. */
function namesValue(before: string): boolean {
  if (/[,=]$/.test(before)) return true;
  if (before.endsWith(">")) return before.slice(before.lastIndexOf("<")).includes("=");
  return before.endsWith(":") && !isSentence(before.slice(before.lastIndexOf("\n") + 1, -1));
}

/** "Here is the call" introduces; `filter` and `a: 1, filter` name a member. */
function isSentence(line: string): boolean {
  const words = line.split(/\s+/).filter((word) => /\p{L}/u.test(word));
  return words.length > 1 && !line.includes(":") && /[\p{L}\p{N}]$/u.test(line);
}

function withoutOpeningFence(before: string): { rest: string; fenced: boolean } {
  const text = before.trimEnd();
  const end = text.lastIndexOf("`") + 1;
  const fenced = text.slice(0, end).endsWith(FENCE) && /^[\w+-]*$/.test(text.slice(end));
  return { rest: fenced ? text.slice(0, end - FENCE.length) : before, fenced };
}

function withoutClosingFence(after: string): { rest: string; fenced: boolean } {
  const text = after.trimStart();
  const fenced = text.startsWith(FENCE);
  return { rest: fenced ? text.slice(FENCE.length) : after, fenced };
}
