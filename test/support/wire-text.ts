import fc from "fast-check";

/** How a provider spells its events. */
export interface Spelling {
  prefix: string;
  lineEnd: string;
  comma: string;
  colon: string;
  /** Spells a string, with its quotes. */
  quote(text: string): string;
}

const hex = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, "0");
const QUOTES: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${hex(unit)}`),
  (text) => JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${hex(unit).toUpperCase()}`),
  (text) => JSON.stringify(text).replaceAll("/", "\\/"),
  (text) => JSON.stringify(text).replace(/[a-f]/g, (unit) => (unit === "c" ? "\\u0063" : unit)),
];

/** Spellings that providers use, and some that they only may. */
export const anySpelling: fc.Arbitrary<Spelling> = fc.record({
  prefix: fc.constantFrom("data: ", "data:", "data: ", "data:  "),
  lineEnd: fc.constantFrom("\n", "\n", "\r\n", "\r"),
  comma: fc.constantFrom(",", ", "),
  colon: fc.constantFrom(":", ": ", " : "),
  quote: fc.constantFrom(...QUOTES.slice(0, 4)),
});

/** Spells everything with escapes that nothing makes necessary, keys too. */
export const NEEDLESS = QUOTES[4] as Spelling["quote"];

/** JSON text in a spelling; keys and strings outside of the text are spelled as they are. */
export function spell(value: unknown, spelling: Spelling, textKeys: ReadonlySet<string>): string {
  const inner = (key: string, item: unknown) =>
    typeof item === "string" && textKeys.has(key) ? spelling.quote(item) : spell(item, spelling, textKeys);
  if (Array.isArray(value))
    return `[${value.map((item) => spell(item, spelling, textKeys)).join(spelling.comma)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}${spelling.colon}${inner(key, item)}`,
  );
  return `{${members.join(spelling.comma)}}`;
}

/** One event in a spelling. */
export const spellEvent = (data: string, { prefix, lineEnd }: Spelling) =>
  `${prefix}${data}${lineEnd}${lineEnd}`;

const NASTY = [
  ...['"', "\\", '\\"', '"content":"', '","finish_reason":"stop"', '"}}]}', "\n\ndata: [DONE]\n\n", "\u0000"],
  ...[
    "\ud83d",
    "\ude00",
    "é",
    "🌍",
    "\u2028",
    "\ufeff",
    "\r",
    "</s>",
    '"obfuscation":"',
    "data: ",
    "\\u0041",
  ],
];

/** Text of any kind: all of Unicode, lone surrogates, control characters, and what looks like the end of an event. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(...NASTY),
  fc.array(fc.constantFrom(...NASTY, "a", " word"), { maxLength: 4 }).map((parts) => parts.join("")),
);

/** The members of an object in any order. */
export function anyOrder<T extends object>(value: T): fc.Arbitrary<T> {
  const keys = Object.keys(value) as (keyof T)[];
  return fc
    .shuffledSubarray(keys, { minLength: keys.length })
    .map((order) => Object.fromEntries(order.map((key) => [key, value[key]])) as T);
}
