import { type LooseToken, LooseTokens } from "./loose-tokens.ts";
import { JsonParser } from "./parser.ts";
import type { RepairName } from "./repair-names.ts";
import { nameSurroundings } from "./surroundings.ts";
import type { JsonObject } from "./value.ts";

/** What a broken JSON text can only have meant, and what had to be put right for it: at least one thing, each once. */
export interface Repair {
  readonly value: JsonObject;
  readonly repairs: readonly RepairName[];
}

const MAX_LENGTH = 1_048_576;

const PYTHON_LITERALS: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
]);
const LITERALS: ReadonlySet<string> = new Set(["true", "false", "null"]);

const DOUBLE_QUOTES = /["“”„‟]/;
const SINGLE_QUOTES = /['‘’‚‛]/;

/**
 * Reads an object out of a text that the strict parser has refused, if the text has one reading only.
 *
 * 1. The text is spelt anew token by token and then read by the strict parser, which has the last word: on numbers, escapes,
 *    commas, colons, brackets and depth. What it takes as it is stands in the value as it does there, to the last digit.
 * 2. Nothing is closed, no quote is guessed, no two objects become one: a text that was cut off has no repair.
 * 3. A text that needs none has none. No text makes it throw. At most 1 MiB (UTF-16 units), in linear time.
 */
export function repairJson(text: string): Repair | undefined {
  const open = text.indexOf("{");
  if (open < 0 || text.length > MAX_LENGTH) return undefined;
  const found = new Set<RepairName>();
  const tokens = new LooseTokens(text, open, found);
  const spelling = spellObject(tokens, found);
  if (spelling === undefined) return undefined;
  const after = text.slice(tokens.at);
  if (mayHideQuotes(tokens, after)) return undefined;
  const around = nameSurroundings(text.slice(0, open), after);
  const value = readObject(spelling);
  if (!around || !value) return undefined;
  // Braces in prose are more often a place to fill in than a call without arguments.
  if (around.includes("surrounding_text") && Object.keys(value).length === 0) return undefined;
  const repairs = [...around, ...found];
  return repairs.length > 0 ? { value, repairs } : undefined;
}

/** The tokens up to the end of the object as JSON spells them; `undefined` when there is no such end, or no such spelling. */
function spellObject(tokens: LooseTokens, found: Set<RepairName>): string | undefined {
  const spellings: string[] = [];
  let depth = 0;
  let before: LooseToken["kind"] = "comma";
  for (let token = tokens.next(); token; token = tokens.next()) {
    const spelling = spell(token, before, tokens, found);
    if (spelling === undefined) return undefined;
    spellings.push(spelling);
    before = token.kind;
    if (before === "open") depth++;
    // A space between two tokens, so that no two of them become one.
    if (before === "close" && --depth === 0) return spellings.join(" ");
  }
  return undefined;
}

function spell(
  token: LooseToken,
  before: LooseToken["kind"],
  tokens: LooseTokens,
  found: Set<RepairName>,
): string | undefined {
  if (token.kind === "word") return spellWord(token.text, tokens, found);
  const endsValue = before !== "comma" && before !== "open";
  if (token.kind !== "comma" || !endsValue || tokens.peek()?.kind !== "close") return token.text;
  found.add("trailing_comma");
  return "";
}

function spellWord(word: string, tokens: LooseTokens, found: Set<RepairName>): string | undefined {
  const literal = PYTHON_LITERALS.get(word);
  if (tokens.peek()?.kind === "colon") {
    // A literal as a key is a string in one language and a value in another.
    if (literal !== undefined || LITERALS.has(word)) return undefined;
    found.add("unquoted_key");
    return JSON.stringify(word);
  }
  if (literal !== undefined) found.add("python_literal");
  return literal ?? (LITERALS.has(word) ? word : undefined);
}

/** A quote outside of a string may be the end of one: what looks like a remark is then a part of it. */
function mayHideQuotes({ comments, hasSingleQuotes }: LooseTokens, after: string): boolean {
  return [...comments, after].some(
    (text) => DOUBLE_QUOTES.test(text) || (hasSingleQuotes && SINGLE_QUOTES.test(text)),
  );
}

function readObject(spelling: string): JsonObject | undefined {
  const parser = new JsonParser({ maxLength: spelling.length });
  parser.push(spelling);
  return parser.value as JsonObject | undefined;
}
