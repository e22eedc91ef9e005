import fc from "fast-check";
import { REPAIR_NAMES, type RepairName } from "../../../src/core/json/repair-names.ts";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import { type JsonObject, type JsonValue, setMember } from "../../../src/core/json/value.ts";

const BEFORE = ["Here is the call: ", ".functions.edit:0 ", "<tool_call>\n", "I'll do it (now).\n", "json\n"];
const AFTER = ["", " I will read it now.", "\n</tool_call>", "; done: ok", "\n\nIs that right?"];
const REMARKS = ["/* why, this */", "// the end: {x} [1]\n", "# to do\n", "/**/", "//\r\n"];
const QUOTINGS = {
  double: ['"', '"', '"'],
  single_quotes: ["'", "'", "'"],
  smart_double: ["“", "”", "“”„‟"],
  smart_single: ["‘", "’", "‘’‚‛"],
} as const;

/** A text and the faults that are really in it. */
export interface Misspelling {
  text: string;
  used: Set<RepairName>;
}

/** Spells an object as JSON, but for faults of the kinds given, each where it can stand and the dice say so. */
export function misspell(
  value: JsonObject,
  faults: readonly RepairName[],
  dice: readonly number[],
): Misspelling {
  const speller = new Misspeller(faults, dice);
  return { text: speller.document(value), used: speller.used };
}

class Misspeller {
  readonly used = new Set<RepairName>();
  readonly #faults: ReadonlySet<RepairName>;
  readonly #dice: readonly number[];
  #rolls = 0;

  constructor(faults: readonly RepairName[], dice: readonly number[]) {
    this.#faults = new Set(faults);
    this.#dice = dice;
  }

  document(value: JsonObject): string {
    let text = this.#value(value);
    const isEmpty = Object.keys(value).length === 0;
    if (this.#commits("code_fence")) text = `${this.#pick(["```json\n", "```\n", "``` "])}${text}\n\`\`\``;
    if (!isEmpty && this.#commits("surrounding_text")) text = this.#pick(BEFORE) + text + this.#pick(AFTER);
    return this.#commits("byte_order_mark") ? `\ufeff${text}` : text;
  }

  #roll(): number {
    const { length } = this.#dice;
    return length === 0 ? 0 : (this.#dice[this.#rolls++ % length] as number);
  }

  #pick(list: readonly string[]): string {
    return list[this.#roll() % list.length] as string;
  }

  #commits(fault: RepairName): boolean {
    if (!this.#faults.has(fault) || this.#roll() % 4 === 3) return false;
    this.used.add(fault);
    return true;
  }

  #gap(): string {
    const space = this.#pick(["", " ", "\n\t"]);
    return space + (this.#commits("comment") ? this.#pick(REMARKS) : "");
  }

  #value(value: JsonValue): string {
    if (typeof value === "string") return this.#string(value);
    if (value === null) return this.#literal("null", "None");
    if (typeof value === "boolean")
      return value ? this.#literal("true", "True") : this.#literal("false", "False");
    if (typeof value !== "object") return Object.is(value, -0) ? "-0" : stringifyJson(value);
    if (Array.isArray(value)) return `[${this.#list(value.map((item) => this.#gap() + this.#value(item)))}]`;
    const members = Object.entries(value).map(
      ([key, item]) => `${this.#gap()}${this.#key(key)}${this.#gap()}:${this.#gap()}${this.#value(item)}`,
    );
    return `{${this.#list(members)}}`;
  }

  #list(items: readonly string[]): string {
    const all = items.map((item) => item + this.#gap()).join(",");
    const comma = items.length > 0 && this.#commits("trailing_comma") ? `,${this.#gap()}` : "";
    return all + comma;
  }

  #literal(json: string, python: string): string {
    return this.#commits("python_literal") ? python : json;
  }

  #key(key: string): string {
    const isWord = /^[A-Za-z_$][\w$]*$/.test(key) && !/^(true|false|null|True|False|None)$/.test(key);
    return isWord && this.#commits("unquoted_key") ? key : this.#string(key);
  }

  #quoting(): keyof typeof QUOTINGS {
    if (this.#commits("single_quotes")) return "single_quotes";
    if (!this.#commits("smart_quotes")) return "double";
    return this.#roll() % 2 === 0 ? "smart_double" : "smart_single";
  }

  #string(content: string): string {
    const quoting = this.#quoting();
    const [open, close, ends] = QUOTINGS[quoting];
    const units = content.split("").map((unit) => this.#unit(unit, quoting, ends));
    return open + units.join("") + close;
  }

  #unit(unit: string, quoting: keyof typeof QUOTINGS, ends: string): string {
    const raw = unit < " " && this.#commits("raw_control_character");
    if (raw) return unit;
    if (unit === '"') return quoting === "single_quotes" ? this.#pick(['"', '\\"']) : '\\"';
    if (unit === "'" && quoting === "single_quotes") return "\\'";
    const isDoubtful = ends.includes(unit) || (unit === "'" && quoting === "smart_single");
    if (isDoubtful) return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return unit < " " || unit === "\\" ? JSON.stringify(unit).slice(1, -1) : unit;
  }
}

const unit = fc.constantFrom(..."ab {}[]:,#/*`\"'\\“”‘’\n\t\u0000\u2028é😀", "\ud83d", "True", "```", "//");
const string = fc.array(unit, { maxLength: 8 }).map((units) => units.join(""));
const key = fc.oneof(
  fc.stringMatching(/^[a-z_$][a-zA-Z0-9_]{0,6}$/),
  fc.constantFrom("__proto__", "True"),
  string,
);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n }),
);

const { object: tied } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    string,
    fc.constantFrom(true, false, null),
    number,
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((members) => {
    const object: JsonObject = {};
    for (const [name, value] of members) setMember(object, name, value);
    return object;
  }),
}));

/** Any object of arguments, rich in characters that mean something outside of strings. */
export const anyObject: fc.Arbitrary<JsonObject> = tied;

/** Decisions for `misspell`. */
export const anyDice: fc.Arbitrary<number[]> = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 20 });

/** Any kinds of faults together. */
export const anyFaults: fc.Arbitrary<RepairName[]> = fc.subarray([...REPAIR_NAMES], { minLength: 1 });
