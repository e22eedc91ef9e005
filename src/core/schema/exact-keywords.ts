import type { Ajv } from "ajv";
import type { DataValidationCxt } from "ajv/dist/types/index.js";
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { CheckState } from "./check-state.ts";
import { canonicalText, isMultipleOf } from "./exact-number.ts";
import { COST_KEYWORD } from "./weigh.ts";

type Test = (data: JsonValue, context?: DataValidationCxt) => boolean;
type Exact = number | bigint;

/** A failing union keeps an error for each node in memory, so that a node costs more than its time. */
const STEPS_PER_NODE = 2;

/** How each numeric keyword compares; JavaScript compares a `number` with a `bigint` by their exact values. */
const COMPARISONS = {
  minimum: (value: Exact, limit: Exact) => value >= limit,
  maximum: (value: Exact, limit: Exact) => value <= limit,
  exclusiveMinimum: (value: Exact, limit: Exact) => value > limit,
  exclusiveMaximum: (value: Exact, limit: Exact) => value < limit,
  multipleOf: isMultipleOf,
} as const;

/**
 * Replaces the keywords of an ajv instance that compare values.
 *
 * 1. They see every integer exactly, however large, on both sides.
 * 2. `multipleOf` divides decimals, so 19.99 is a multiple of 0.01.
 * 3. `uniqueItems` and `enum` take time linear in the value, whatever the items are.
 *
 * It also adds the keyword that charges what an evaluation costs.
 */
export function useExactKeywords(ajv: Ajv, state: CheckState): void {
  const exact = (data: JsonValue, context: DataValidationCxt | undefined): JsonValue => {
    if (typeof data === "number" && context !== undefined) {
      return state.exact(data, context.parentData, context.parentDataProperty);
    }
    return typeof data === "object" && data !== null ? state.original(data) : data;
  };
  const replace = (
    keyword: string,
    type: "number" | "array" | undefined,
    compile: (schema: never) => Test,
  ): void => {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      errors: false,
      compile: compile as (schema: unknown) => Test,
      ...(type && { type }),
    });
  };
  for (const [keyword, holds] of Object.entries(COMPARISONS)) {
    replace(
      keyword,
      "number",
      (limit: Exact) => (data, context) => holds(exact(data, context) as Exact, limit),
    );
  }
  replace("enum", undefined, (allowed: JsonValue[]) => {
    const texts = new Set(allowed.map(canonicalText));
    return (data, context) => texts.has(state.canonicalText(exact(data, context)));
  });
  replace("const", undefined, (only: JsonValue) => {
    const text = canonicalText(only);
    return (data, context) => state.canonicalText(exact(data, context)) === text;
  });
  replace(
    "uniqueItems",
    "array",
    (wanted: boolean) => (data) => !wanted || isUnique(state.original(data as JsonValue[])),
  );
  // Before anything that may lead deeper, since a failure ends the evaluation of a schema.
  ajv.addKeyword({
    keyword: COST_KEYWORD,
    before: "$ref",
    errors: false,
    compile: (cost: number) => () => {
      state.charge(cost * STEPS_PER_NODE);
      return true;
    },
  });
}

function isUnique(items: JsonValue[] | JsonObject): boolean {
  return !Array.isArray(items) || new Set(items.map(canonicalText)).size === items.length;
}
