import type { ErrorDetail } from "../../errors.ts";
import type { JsonPath, JsonValue } from "../json/value.ts";
import { nearest } from "../schema/nearest.ts";
import { isWithin, type ValuePath } from "./value-path.ts";

/** A set of characters. */
export type CharacterTest = (character: string) => boolean;

/** What a string of the arguments may not be. */
export type GuardProblem =
  | { readonly kind: "character"; readonly path: JsonPath; readonly character: string }
  | { readonly kind: "path"; readonly path: JsonPath; readonly fault: PathFault };

/** Why a text is no relative path inside of a folder. */
export type PathFault = "nul" | "absolute" | "parent";

/** The guard of a tool, ready to check. */
export interface Guard {
  readonly allowed: CharacterTest | undefined;
  /** Parameters that may hold any character. */
  readonly except: readonly ValuePath[];
  /** Parameters that are relative file paths. */
  readonly paths: readonly ValuePath[];
}

const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ["letters", /^[\p{L}\p{M}]$/u],
  ["ascii_letters", /^[A-Za-z]$/],
  ["han", /^\p{Script=Han}$/u],
  ["digits", /^[0-9]$/],
  ["space", /^ $/],
  ["newline", /^[\r\n]$/],
  ["punctuation", /^\p{P}$/u],
]);

/**
 * Reads an allow-list such as `letters digits space _-./`: names of classes and other characters, separated by spaces.
 * A word with letters or digits is the name of a class, so that a misspelt one is never taken for its letters.
 */
export function readAllowed(text: string, path: string): CharacterTest | ErrorDetail {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const unknown = words.find((word) => /[\p{L}\p{N}]/u.test(word) && !CLASSES.has(word));
  if (unknown !== undefined || words.length === 0) {
    const [near] = nearest(unknown ?? "", [...CLASSES.keys()]);
    const hint = near ? `did you mean "${near}"?` : `the classes are ${[...CLASSES.keys()].join(", ")}.`;
    const what = unknown === undefined ? "names no characters" : `has no class "${unknown}"`;
    return { reason: "invalid_guard", path, message: `"${path}" ${what}; ${hint}` };
  }
  const classes = words.flatMap((word) => CLASSES.get(word) ?? []);
  const literal = new Set(words.filter((word) => !CLASSES.has(word)).join(""));
  return (character) => literal.has(character) || classes.some((each) => each.test(character));
}

/** The first string of the arguments that the guard refuses. Names of members are not looked at: the schema judges them. */
export function findGuardProblem(
  guard: Guard,
  value: JsonValue,
  at: JsonPath = [],
): GuardProblem | undefined {
  if (typeof value === "string") return judge(guard, value, at);
  if (typeof value !== "object" || value === null) return undefined;
  const isList = Array.isArray(value);
  for (const [key, member] of Object.entries(value)) {
    const problem = findGuardProblem(guard, member, [...at, isList ? Number(key) : key]);
    if (problem) return problem;
  }
  return undefined;
}

function judge(guard: Guard, text: string, at: JsonPath): GuardProblem | undefined {
  const fault = guard.paths.some((path) => isWithin(at, path)) ? pathFault(text) : undefined;
  if (fault) return { kind: "path", path: at, fault };
  const { allowed } = guard;
  if (!allowed || guard.except.some((path) => isWithin(at, path))) return undefined;
  for (const character of text) {
    if (!allowed(character)) return { kind: "character", path: at, character };
  }
  return undefined;
}

/** Why a text is no relative path; judged as it is written and as a URL would be read. */
function pathFault(text: string): PathFault | undefined {
  return [text, decoded(text)].map(faultOf).find((fault) => fault !== undefined);
}

function faultOf(text: string): PathFault | undefined {
  if (text.includes("\0")) return "nul";
  // A drive letter and the scheme of a URL look alike; `~` is somebody's home.
  if (/^(?:[/\\~]|[a-z][a-z0-9+.-]*:)/i.test(text)) return "absolute";
  return text.split(/[/\\]/).includes("..") ? "parent" : undefined;
}

const decoded = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_escape, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
