/** What a JSON text says; `undefined` for a text that is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  return parsed(text) !== undefined;
}

/** A text as it stands between the quotes of a JSON string. */
export function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
