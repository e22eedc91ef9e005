/**
 * Why a JSON text was refused: `syntax` breaks the grammar, `incomplete` ends too early, `depth` and `length` pass a limit,
 * `trailing` goes on behind a complete value.
 */
export type JsonErrorReason = "syntax" | "incomplete" | "depth" | "length" | "trailing";

/** The first fault of a JSON text. `offset` counts UTF-16 units from 0. `expected` and `found` are words for a message. */
export interface JsonError {
  readonly reason: JsonErrorReason;
  readonly offset: number;
  readonly expected: string;
  readonly found: string;
}

/** One sentence for a model or a person: `Expected "," or "}" at position 17, but found "x".` */
export function jsonErrorMessage({ offset, expected, found }: JsonError): string {
  return `Expected ${expected} at position ${offset}, but found ${found}.`;
}

/** The same in Chinese, without the words that only English has for what was expected. */
export function jsonErrorMessageZh({ reason, offset, found }: JsonError): string {
  if (reason === "incomplete") return "文本不完整。";
  if (reason === "depth") return "嵌套过深。";
  if (reason === "length") return "文本过长。";
  return `第 ${offset + 1} 个字符处不应出现 ${found}。`;
}

/** Names one UTF-16 unit: in quotes when a reader can see it, else by its code. A half of a pair is named by its code. */
export function nameUnit(unit: string): string {
  if (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(unit)) return JSON.stringify(unit);
  return `U+${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
