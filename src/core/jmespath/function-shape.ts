import type { Item } from "./item.ts";
import type { Meter } from "./meter.ts";

/** What an argument may be: a type, or an array of one type only (`numbers`, `strings`, `arrays`). */
export type Kind =
  | "any"
  | "array"
  | "arrays"
  | "expression"
  | "number"
  | "numbers"
  | "object"
  | "string"
  | "strings";

/** A function of JMESPath. */
export interface JmesFunction {
  /** By argument, what it may be. */
  takes: readonly (readonly Kind[])[];
  /** How many of the last arguments may be left out. */
  optional?: number;
  /** The last argument may stand there any number of times. */
  repeats?: boolean;
  /** Gets arguments that fit `takes`, and pays for the work that grows with them. */
  call(args: never, meter: Meter): Item;
}

/** Characters of text that cost as much as one step. */
const CHARACTERS = 4;

/** Pays for going through a text, or writing it. */
export function chargeText(length: number, meter: Meter): void {
  meter.charge(length / CHARACTERS);
}
