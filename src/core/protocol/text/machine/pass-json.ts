import { JsonParser } from "../../../json/parser.ts";
import type { Reading, TextInput } from "./text-input.ts";

/** Passes over JSON, up to its end or its first fault, and hands it on. */
export function* passJson(input: TextInput, take: (text: string) => void): Reading<void> {
  const parser = new JsonParser();
  let before = 0;
  for (;;) {
    const piece = input.text.slice(input.at);
    parser.push(piece);
    const end = parser.completeAt >= 0 ? parser.completeAt : (parser.error?.offset ?? Infinity);
    take(input.take(input.at + Math.min(piece.length, Math.max(0, end - before))));
    before += piece.length;
    if (end <= before || input.ended) return;
    yield;
  }
}
