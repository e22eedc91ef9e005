import type { JsonValue } from "../json/value.ts";
import type { Step } from "./steps.ts";
import { replaceAt, type ValuePath } from "./value-path.ts";

/** A change of the arguments; `path` is a JSON pointer. */
export interface Normalised {
  readonly path: string;
  readonly from: JsonValue;
  readonly to: JsonValue;
}

/** The steps for one parameter. */
export interface Normaliser {
  readonly path: ValuePath;
  readonly steps: readonly Step[];
}

/** Steps can open the way for earlier ones (`trim` after `strip_suffix`), but not forever. */
const MAX_PASSES = 8;

/**
 * Brings parameters into the form that a tool wants.
 *
 * 1. The steps of a parameter run in their order, and again until they change nothing, so that doing it twice changes nothing.
 * 2. Only strings change. What no step understands stays as it is.
 * 3. The value given is not changed. Every change is added to `changes`, one for each place.
 */
export function normalise(
  value: JsonValue,
  normalisers: readonly Normaliser[],
  changes: Normalised[],
): JsonValue {
  return normalisers.reduce<JsonValue>(
    (current, { path, steps }) =>
      replaceAt(current, path, (from, pointer) => {
        const to = settle(from, steps);
        if (to !== from) changes.push({ path: pointer, from, to });
        return to;
      }),
    value,
  );
}

function settle(value: JsonValue, steps: readonly Step[]): JsonValue {
  let current = value;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = current;
    current = steps.reduce((each, step) => step(each), current);
    if (current === before) break;
  }
  return current;
}
