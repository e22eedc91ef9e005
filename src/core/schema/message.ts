import type { JsonPath } from "../json/value.ts";
import { english } from "./message-en.ts";
import { chinese } from "./message-zh.ts";
import { nearest } from "./nearest.ts";
import { spell } from "./place.ts";
import type { Problem } from "./problem.ts";

/** Languages of the messages written for the model. */
export type Locale = "en" | "zh";

/** Names that are listed at most where no nearest one is known. */
const MAX_LISTED = 20;

/**
 * One short message that a model can act on: which parameter, what was expected, what came, and the nearest valid value
 * where one is near. What the model sent is quoted, shortened, and always well-formed Unicode.
 */
export function explain(problem: Problem, locale: Locale): string {
  const words = locale === "zh" ? chinese : english;
  const { path } = problem;
  switch (problem.kind) {
    case "missing": {
      const [only] = problem.names.length === 1 ? problem.names : [];
      const [meant] = only === undefined ? [] : problem.unexpected;
      const names = problem.names.slice(0, MAX_LISTED).map((name) => nameOf([...path, name]));
      const unexpected = problem.unexpected.slice(0, MAX_LISTED).map((name) => nameOf([...path, name]));
      return words.missing(names, unexpected, meant === undefined ? undefined : only);
    }
    case "unexpected": {
      const [name = ""] = problem.names;
      const names = problem.names.slice(0, MAX_LISTED).map((each) => nameOf([...path, each]));
      const near = problem.names.length === 1 ? nearest(name, problem.known) : [];
      return words.unexpected(names, near, problem.known.slice(0, MAX_LISTED));
    }
    case "type":
      return words.type(nameOf(path), problem.types, problem.value);
    case "enum": {
      const texts = problem.allowed.filter((value) => typeof value === "string");
      const near = typeof problem.value === "string" ? nearest(problem.value, texts) : [];
      return words.enum(
        nameOf(path),
        problem.allowed.slice(0, MAX_LISTED),
        problem.allowed.length,
        problem.value,
        near,
      );
    }
    case "rule":
      return words.rule(problem.rule, nameOf(path), problem.limit, problem.value);
    case "bound":
      return words.bound(problem.bound, nameOf(path), problem.limit);
    default:
      return problem satisfies never;
  }
}

/** `undefined` for the root: the arguments as a whole. */
function nameOf(path: JsonPath): string | undefined {
  return path.length === 0 ? undefined : spell(path);
}
