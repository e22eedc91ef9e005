import type { JsonPath, JsonValue } from "../json/value.ts";

/**
 * Why arguments do not fit, one place and one reason. `path` leads to the value at fault; for missing and unexpected
 * members it leads to the object that lacks or holds them.
 */
export type Problem =
  | {
      readonly kind: "missing";
      readonly path: JsonPath;
      readonly names: readonly string[];
      /** Members of the same object that the schema does not know: often the missing ones under another name. */
      readonly unexpected: readonly string[];
    }
  | {
      readonly kind: "unexpected";
      readonly path: JsonPath;
      readonly names: readonly string[];
      /** The names that the schema declares for this object. */
      readonly known: readonly string[];
    }
  | {
      readonly kind: "type";
      readonly path: JsonPath;
      readonly types: readonly string[];
      readonly value: JsonValue;
    }
  | {
      readonly kind: "enum";
      readonly path: JsonPath;
      readonly allowed: readonly JsonValue[];
      readonly value: JsonValue;
    }
  | {
      /** Any other keyword. */
      readonly kind: "rule";
      readonly path: JsonPath;
      readonly rule: Rule;
      /** What the keyword says, for example the limit. */
      readonly limit: JsonValue;
      readonly value: JsonValue;
    }
  | {
      /** What holds for the arguments of every tool. */
      readonly kind: "bound";
      readonly path: JsonPath;
      readonly bound: Bound;
      readonly limit: number;
    };

/** Arguments are too deeply nested, too long, take too long to check, or hold an array that is too long. */
export type Bound = "depth" | "length" | "time" | "items";

/** The keywords that can be at fault beside those that have a kind of their own. */
export const RULES = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "minItems",
  "maxItems",
  "uniqueItems",
  "contains",
  "maxContains",
  "additionalItems",
  "unevaluatedItems",
  "minProperties",
  "maxProperties",
  "propertyNames",
  "oneOf",
  "anyOf",
  "not",
  "false schema",
] as const;

/** A keyword that is told to the model in words of its own. */
export type Rule = (typeof RULES)[number];

const SEVERITY = { missing: 0, type: 1, enum: 2, unexpected: 3, rule: 3, bound: 3 } as const;

/** Orders problems: missing first, then type, then enum, then the rest; those of the same kind keep their order. */
export function bySeverity(a: Problem, b: Problem): number {
  return SEVERITY[a.kind] - SEVERITY[b.kind];
}
