import { type Markers, type Reading, skipBlanks, type TextInput } from "./text-input.ts";

/** Characters of a name, with what a format writes around it; longer ones are none. */
export const MAX_NAME = 256;

/** Reads on and returns: what was read is there again. */
export function* ahead<T>(input: TextInput, look: () => Reading<T>): Reading<T> {
  const mark = input.mark();
  const result = yield* look();
  input.back(mark);
  return result;
}

/** Hands on the text before the first marker and stops there; without one all of it. */
export function* flow(
  input: TextInput,
  markers: Markers,
  take: (text: string) => void,
): Reading<string | undefined> {
  for (;;) {
    const { marker, at } = markers.find(input);
    if (at > input.at) take(input.take(at));
    if (marker !== undefined) return marker;
    if (input.ended) {
      take(input.take(input.text.length));
      return undefined;
    }
    yield;
  }
}

/** Text up to a marker, at most `limit` characters of it; `undefined` where there is none so near. */
export function* textBefore(input: TextInput, markers: Markers, limit: number): Reading<string | undefined> {
  for (;;) {
    const { marker, at } = markers.find(input);
    if (at - input.at > limit) return undefined;
    if (marker !== undefined) return input.take(at);
    if (input.ended) return undefined;
    yield;
  }
}

/**
 * Passes over white space and the markers in it, as often as they come, and over a part of one that ends the text; white space
 * that no marker follows stays.
 */
export function* skipTrailers(input: TextInput, markers: Markers): Reading<void> {
  for (;;) {
    const mark = input.mark();
    yield* skipBlanks(input);
    const found = yield* markers.skip(input);
    const partial = found === undefined && !input.drained && (yield* endsWithin(input, markers));
    if (partial) input.at = input.text.length;
    if (found === undefined && !partial) return input.back(mark);
    input.release();
  }
}

/** Whether the text has ended here, but for a part of what a marker begins with. */
export function* endsWithin(input: TextInput, markers: Markers): Reading<boolean> {
  if ((yield* markers.here(input)) !== undefined) return false;
  return input.ended && markers.begins(input.text.slice(input.at));
}
