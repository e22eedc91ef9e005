/** The words of a name in lower case: `getHTTPUser-list` is `get`, `http`, `user`, `list`. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replace(/([\p{Lu}\p{N}])(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** Whether a name is `snake_case`, digits allowed after the first letter. */
export function isSnakeCase(name: string): boolean {
  return /^[a-z][a-z0-9_]*$/.test(name);
}

/** The name in snake_case, behind `prefix` where it would not begin with a letter; `undefined` where it has other letters than a-z. */
export function toSnakeCase(name: string, prefix: string): string | undefined {
  const joined = wordsOf(name).join("_");
  return [joined, `${prefix}_${joined}`.replace(/_$/, "")].find(isSnakeCase);
}

/** Words that many descriptions share and that tell nothing of what a tool does. */
const COMMON = new Set(
  (
    "a an and any are as ask asks at be by call can do does for from get gets give given gives has have if in into is it its " +
    "needs of on one only or returns that the them then there this to tool use used user users uses wants was what when " +
    "whenever which who will with you your"
  ).split(" "),
);

/** The words of a text that say what it is about. Of Chinese text each character counts as a word. */
export function topicsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)));
}
