import { JsonParser, type JsonParserOptions } from "../../../src/core/json/parser.ts";
import type { JsonValue } from "../../../src/core/json/value.ts";

/** Everything that a `JsonParser` says about a text, before `end` and after it. */
export function readPieces(pieces: readonly string[], options: JsonParserOptions = {}) {
  const values: [path: readonly (string | number)[], value: JsonValue][] = [];
  // A container goes on unchanged after it is reported, so a reference is enough.
  const parser = new JsonParser({ ...options, onValue: (path, value) => values.push([path, value]) });
  for (const piece of pieces) parser.push(piece);
  const before = state(parser);
  parser.end();
  return { before, ...state(parser), values };
}

function state({ status, value, firstValue, error, completeAt, openPath }: JsonParser) {
  return { status, value, firstValue, error, completeAt, openPath };
}

/** The text cut in two at `at`. */
export function cutAt(text: string, at: number): string[] {
  return [text.slice(0, at), text.slice(at)];
}

/** What `JSON.parse` makes of the text, integers beyond the safe ones as `bigint`; `undefined` when it refuses it. */
export function referenceValue(text: string): JsonValue | undefined {
  const exact = (_key: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source ?? "";
    return typeof value === "number" && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
      ? BigInt(source)
      : value;
  };
  try {
    return JSON.parse(text, exact);
  } catch {
    return undefined;
  }
}
