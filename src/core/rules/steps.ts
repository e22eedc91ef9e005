import type { ErrorDetail } from "../../errors.ts";
import type { JsonValue } from "../json/value.ts";
import { nearest } from "../schema/nearest.ts";
import type { NormalizeStep } from "../tool.ts";
import { chineseNumber } from "./chinese-number.ts";
import { narrowDigits } from "./full-width.ts";
import { isoDate } from "./iso-date.ts";
import { quantity } from "./quantity.ts";

/** One step, ready to run. What it does not understand it gives back as it is. */
export type Step = (value: JsonValue) => JsonValue;

type TextStep = (text: string) => JsonValue;

const WORDS: ReadonlyMap<string, TextStep> = new Map<string, TextStep>([
  ["trim", (text) => text.trim()],
  ["lower", (text) => text.toLowerCase()],
  ["upper", (text) => text.toUpperCase()],
  ["collapse_spaces", (text) => text.replace(/\s+/g, " ")],
  ["digits", narrowDigits],
  ["date", (text) => isoDate(text) ?? text],
  ["chinese_number", (text) => chineseNumber(text) ?? text],
]);

const MAX_AFFIXES = 64;
const MAX_ENTRIES = 1_000;
const MAX_TEXT = 256;

type Reader = (option: unknown) => TextStep | string;

/** Steps with an option: how each is read. A text says what is wrong with the option. */
const WITH_OPTION: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [
    "strip_prefix",
    (option) => affixStep(option, (text, affix) => text.startsWith(affix) && text.slice(affix.length)),
  ],
  [
    "strip_suffix",
    (option) => affixStep(option, (text, affix) => text.endsWith(affix) && text.slice(0, -affix.length)),
  ],
  ["map", mapStep],
  ["unit", unitStep],
]);

/** The names of all steps. */
export const STEP_NAMES: readonly string[] = [...WORDS.keys(), ...WITH_OPTION.keys()];

/** Whether a step can turn a string into a number. */
export function makesNumbers(step: NormalizeStep): boolean {
  return step === "chinese_number" || (typeof step === "object" && "unit" in step);
}

/** The step that a definition writes as `trim` or `{ "strip_suffix": ["市"] }`, or what is wrong with it. */
export function readStep(step: unknown, path: string): Step | ErrorDetail {
  const fault = (message: string): ErrorDetail => ({ reason: "invalid_normalizer", path, message });
  if (typeof step === "string") {
    const word = WORDS.get(step);
    return word ? onText(word) : fault(`"${path}": ${unknownStep(step)}`);
  }
  const entries =
    typeof step === "object" && step !== null && !Array.isArray(step) ? Object.entries(step) : [];
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) {
    return fault(
      `"${path}" must be the name of a step, or an object with the name of one step and its option.`,
    );
  }
  const [name, option] = entry;
  const reader = WITH_OPTION.get(name);
  if (!reader) return fault(`"${path}": ${unknownStep(name)}`);
  const read = reader(option);
  return typeof read === "string" ? fault(`"${path}.${name}" ${read}`) : onText(read);
}

const onText =
  (step: TextStep): Step =>
  (value) =>
    typeof value === "string" ? step(value) : value;

function unknownStep(name: string): string {
  if (WITH_OPTION.has(name)) return `the step "${name}" needs an option: { "${name}": … }.`;
  if (WORDS.has(name)) return `the step "${name}" has no option; write it as a string.`;
  const [near] = nearest(name, STEP_NAMES);
  return `there is no step "${name}"${near ? `; did you mean "${near}"?` : `. The steps are: ${STEP_NAMES.join(", ")}.`}`;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MAX_TEXT;

/** Takes the first affix that fits away, but never all there is. */
function affixStep(
  option: unknown,
  strip: (text: string, affix: string) => string | false,
): TextStep | string {
  const affixes: unknown[] = Array.isArray(option) ? option : [option];
  if (affixes.length === 0 || affixes.length > MAX_AFFIXES || !affixes.every(isText)) {
    return `must be a text of 1 to ${MAX_TEXT} characters, or a list of up to ${MAX_AFFIXES} of them.`;
  }
  return (text) => affixes.map((affix) => strip(text, affix)).find((rest) => rest) || text;
}

function entriesOf(option: unknown): [string, unknown][] | undefined {
  if (typeof option !== "object" || option === null || Array.isArray(option)) return undefined;
  const entries = Object.entries(option);
  const areFine =
    entries.length > 0 && entries.length <= MAX_ENTRIES && entries.every(([key]) => isText(key));
  return areFine ? entries : undefined;
}

function mapStep(option: unknown): TextStep | string {
  const entries = entriesOf(option);
  const isScalar = (value: unknown) =>
    value === null || typeof value === "string" || typeof value === "boolean" || isExact(value);
  if (!entries?.every(([, value]) => isScalar(value))) {
    return `must be an object of up to ${MAX_ENTRIES} texts, each with the string, boolean, null or number (an integer up to 2^53) that it becomes.`;
  }
  const table = new Map(entries as [string, JsonValue][]);
  // Steps are repeated until nothing changes, which a chain or a circle would make surprising.
  const chained = entries.find(
    ([key, value]) => value !== key && typeof value === "string" && table.has(value),
  );
  if (chained) return `maps "${chained[0]}" to "${chained[1]}", which is mapped again.`;
  return (text) => table.get(text) ?? (table.has(text) ? null : text);
}

/** Definitions are read as doubles: a larger integer has lost digits already. */
const isExact = (value: unknown): boolean =>
  typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));

function unitStep(option: unknown): TextStep | string {
  const entries = entriesOf(option);
  const isFactor = (value: unknown) => typeof value === "number" && Number.isFinite(value) && value > 0;
  const isUnit = (name: string) => name.trim() === name && !/\d$/.test(name);
  if (!entries?.every(([name, value]) => isUnit(name) && isFactor(value))) {
    return "must be an object of units, each with the positive number that one of it is worth.";
  }
  const factors = new Map(entries as [string, number][]);
  return (text) => quantity(text, factors) ?? text;
}
