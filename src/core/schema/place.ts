import type { JsonPath } from "../json/value.ts";
import { shorten } from "./message-parts.ts";
import { step } from "./pointer.ts";
import type { Problem } from "./problem.ts";

/** Characters of a parameter's path that are kept; names can be as long as a model makes them. */
const MAX_PATH = 200;

/** A path as a model reads it, `work[1].start`; `""` for the root. */
export function spellWhole(path: JsonPath): string {
  return path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    return before === "" ? part : `${before}.${part}`;
  }, "");
}

/** The same, shortened. */
export function spell(path: JsonPath): string {
  return shorten(spellWhole(path), MAX_PATH);
}

/** A path as a JSON pointer. */
export function pointerOf({ path }: { readonly path: JsonPath }): string {
  return path.reduce<string>(step, "");
}

/** A path as a JSON pointer, shortened. */
export function shortPointer(place: { readonly path: JsonPath }): string {
  return shorten(pointerOf(place), MAX_PATH);
}

/** JSON pointer, shortened, of the parameter that a problem is about: of one missing member that member, of several their object. */
export function parameterOf(problem: Problem): string {
  const [name, ...others] = problem.kind === "missing" ? problem.names : [];
  const isOne = name !== undefined && others.length === 0;
  return shortPointer(isOne ? { path: [...problem.path, name] } : problem);
}
