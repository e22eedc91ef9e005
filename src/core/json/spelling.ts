import type { JsonObject, JsonValue } from "./value.ts";

/** An object or array that holds values. */
type Container = JsonObject | JsonValue[];

/** By container and key. What is kept here lives as long as the container does. */
const kept = new WeakMap<Container, Map<string, { number: number; text: string }>>();

/** Keeps how a number was written that a double does not hold as it was; without a text, forgets what was kept for the key. */
export function keepSpelling(
  container: Container,
  key: string | number,
  number: number,
  text: string | undefined,
): void {
  const texts = kept.get(container) ?? new Map<string, { number: number; text: string }>();
  if (text === undefined) texts.delete(String(key));
  else kept.set(container, texts.set(String(key), { number, text }));
}

/**
 * The number at a key as JSON text, where its double alone would be written as another one: beyond the doubles, with more digits
 * than they have, or a zero with a sign. `undefined` for every other value.
 */
export function spellingOf(container: Container, key: string | number): string | undefined {
  const value = (container as JsonObject)[key];
  if (typeof value !== "number") return undefined;
  const found = kept.get(container)?.get(String(key));
  // Somebody may have put another number there.
  if (found && Object.is(found.number, value)) return found.text;
  return spellDouble(value);
}

/** The same for a double of which nothing else is known. */
export function spellDouble(number: number): string | undefined {
  if (Object.is(number, -0)) return "-0";
  return Number.isFinite(number) ? undefined : number > 0 ? "1e999" : "-1e999";
}

/** Whether `spellingOf` may know more about a container than its values say. */
export function hasSpellings(container: Container): boolean {
  return kept.has(container);
}

/** Lets a number that was taken over under another key, or into another container, keep how it was written. */
export function carrySpelling(
  from: Container,
  key: string | number,
  to: Container,
  as: string | number,
): void {
  const number = (to as JsonObject)[as];
  const found = kept.get(from)?.get(String(key));
  if (found && typeof number === "number" && Object.is(found.number, number))
    keepSpelling(to, as, number, found.text);
}

/** Lets a changed copy of a container keep how the numbers were written that are still in it. */
export function withSpellings<T extends Container>(copy: T, original: Container): T {
  const texts = kept.get(original);
  if (texts) kept.set(copy, texts);
  return copy;
}
