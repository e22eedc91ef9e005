import type { ToolDefinition } from "./tool.ts";
import { type LintNote, note } from "./tool-lint-note.ts";
import { topicsOf, toSnakeCase, wordsOf } from "./tool-lint-words.ts";

/** What a model tells tools apart by. */
type Told = Pick<ToolDefinition, "name" | "description" | "parameters">;

/** What is compared of one tool. */
interface Features {
  /** The name without case and separators. */
  folded: string;
  /** The words of the name in one order, with one word for each group of synonyms. */
  key: string;
  topics: ReadonlySet<string>;
  /** One of 32 bits for each topic: sets that share most topics differ in few bits. */
  signature: number;
}

/** Share of words that two descriptions may have in common. */
const MAX_OVERLAP = 0.8;
/** Descriptions with fewer words that say something, and shorter names, are too short to be alike. */
const MIN_TOPICS = 3;
const MIN_NAME = 4;
/** Other tools that a note names. */
const MAX_NAMED = 3;

const SYNONYMS = new Map(
  [
    ["get", "fetch", "retrieve", "read", "load"],
    ["find", "search", "lookup", "query"],
    ["create", "add", "new", "make", "insert"],
    ["update", "edit", "change", "modify"],
    ["delete", "remove", "erase", "drop"],
    ["send", "post", "submit"],
  ].flatMap(([first = "", ...others]) => others.map((other): [string, string] => [other, first])),
);

/** Definitions do not change, and each is compared with all others. */
const known = new WeakMap<Told, Features>();

/**
 * What is ambiguous about a tool among those that a model is offered beside it. A tool of the same name is not another.
 *
 * 1. Names are near when one edit separates them (case and separators do not count), or when they have the same words, in any
 *    order, singular or plural, or with a synonym for the verb.
 * 2. Descriptions are alike when they are the same, or share four fifths of the words that say something.
 * 3. There are two notes at most, whatever the number of tools.
 */
export function lintAmong(tool: Told, tools: Iterable<Told>): LintNote[] {
  const own = featuresOf(tool);
  const near: Told[] = [];
  const alike: Told[] = [];
  for (const other of tools) {
    if (other.name === tool.name) continue;
    const theirs = featuresOf(other);
    if (areNear(own, theirs)) near.push(other);
    if (areAlike(own, theirs, tool.description === other.description)) alike.push(other);
  }
  return [...noteNear(tool, near), ...noteAlike(tool, alike)];
}

function noteNear(tool: Told, near: readonly Told[]): LintNote[] {
  const [first] = near;
  if (!first) return [];
  const message = `A model mixes "${tool.name}" up with ${named(near)}: the names are nearly the same.`;
  return [note("name_ambiguous", "name", message, clearerName(tool, first))];
}

function noteAlike(tool: Told, alike: readonly Told[]): LintNote[] {
  const [first] = alike;
  if (!first) return [];
  const message = `A model cannot choose between "${tool.name}" and ${named(alike)}: their descriptions say nearly the same.`;
  const own = wordsOf(tool.name).filter((word) => !wordsOf(first.name).includes(word));
  const suggestion = `${tool.description} Only for ${own.join(" ") || "…"}; for everything else use ${first.name}.`;
  return [note("description_ambiguous", "description", message, suggestion.trim())];
}

function named(tools: readonly Told[]): string {
  const names = tools.slice(0, MAX_NAMED).map(({ name }) => `"${name}"`);
  const more = tools.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** The name with what only this tool has: a word of its description, else a parameter. */
function clearerName(tool: Told, other: Told): string {
  const name = toSnakeCase(tool.name, "tool") ?? tool.name;
  const taken = new Set([...featuresOf(other).topics, ...wordsOf(tool.name), ...wordsOf(other.name)]);
  const word = [...featuresOf(tool).topics].find((topic) => /^[a-z]{3,}$/.test(topic) && !taken.has(topic));
  if (word !== undefined) return `${name}_${word}`;
  const theirs = parametersOf(other);
  const parameter = parametersOf(tool).find((own) => !theirs.includes(own));
  if (parameter !== undefined) return `${name}_by_${toSnakeCase(parameter, "param") ?? parameter}`;
  return `one tool for both, "${other.name}", with a parameter that tells the cases apart`;
}

function parametersOf({ parameters }: Told): string[] {
  return Object.keys(parameters?.["properties"] ?? {});
}

function featuresOf(tool: Told): Features {
  const found = known.get(tool);
  if (found) return found;
  const words = wordsOf(tool.name);
  const topics = topicsOf(tool.description);
  const features: Features = {
    folded: words.join(""),
    key: words.map(canonical).sort().join(" "),
    topics,
    signature: [...topics].reduce((bits, topic) => bits | (1 << bitOf(topic)), 0),
  };
  known.set(tool, features);
  return features;
}

function canonical(word: string): string {
  const singular = word.length > 3 ? word.replace(/(?<=[^s])s$/, "") : word;
  return SYNONYMS.get(singular) ?? singular;
}

function areNear(a: Features, b: Features): boolean {
  if (a.key === b.key || a.folded === b.folded) return true;
  const shorter = Math.min(a.folded.length, b.folded.length);
  return shorter >= MIN_NAME && isOneEdit(a.folded, b.folded);
}

/** One letter more, less or other, or two neighbours swapped. */
function isOneEdit(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

function areAlike(a: Features, b: Features, isSame: boolean): boolean {
  const total = a.topics.size + b.topics.size;
  if (isSame) return total > 0;
  if (Math.min(a.topics.size, b.topics.size) < MIN_TOPICS) return false;
  // With this overlap the sets differ in a ninth of their topics at most, and each of those sets one bit.
  if (bitsIn(a.signature ^ b.signature) > (total * (1 - MAX_OVERLAP)) / (1 + MAX_OVERLAP)) return false;
  let shared = 0;
  for (const topic of a.topics) if (b.topics.has(topic)) shared++;
  return shared >= MAX_OVERLAP * (total - shared);
}

function bitOf(topic: string): number {
  let sum = 0;
  for (let at = 0; at < topic.length; at++) sum = (sum * 31 + topic.charCodeAt(at)) | 0;
  return sum & 31;
}

function bitsIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
