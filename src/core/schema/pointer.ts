/** One step further from a JSON pointer (RFC 6901). */
export function step(pointer: string, key: string | number): string {
  return `${pointer}/${typeof key === "number" ? key : key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The steps of a JSON pointer as they are spelled in the document. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}
