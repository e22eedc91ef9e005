import type { JsonValue } from "../json/value.ts";
import { list, quote, type Wording } from "./message-parts.ts";
import type { Rule } from "./problem.ts";

const AGAIN = "Correct it and call again.";

const TYPES: Readonly<Record<string, string>> = {
  object: "an object",
  array: "an array",
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean (true or false)",
  null: "null",
};

/** What each rule demands; `limit` is already written as text. */
const RULES: Readonly<Record<Rule, (limit: string) => string>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be greater than ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  multipleOf: (limit) => `must be a multiple of ${limit}`,
  minLength: (limit) => `must have at least ${limit} characters`,
  maxLength: (limit) => `must have at most ${limit} characters`,
  pattern: (limit) => `must match the regular expression ${limit}`,
  format: (limit) => `must have the format ${limit}`,
  minItems: (limit) => `must have at least ${limit} items`,
  maxItems: (limit) => `must have at most ${limit} items`,
  uniqueItems: () => "must not hold the same item twice",
  contains: () => "lacks an item of the kind that the schema requires",
  additionalItems: () => "has more items than the schema allows",
  unevaluatedItems: () => "has more items than the schema allows",
  minProperties: (limit) => `must have at least ${limit} members`,
  maxProperties: (limit) => `must have at most ${limit} members`,
  propertyNames: (limit) => `must not have a member named ${limit}`,
  oneOf: (limit) => `must match exactly one of the ${limit} forms that the schema allows`,
  anyOf: (limit) => `must match one of the ${limit} forms that the schema allows`,
  not: () => "has a form that the schema forbids",
  "false schema": () => "is not allowed here",
};

/** The messages in English. */
export const english: Wording = {
  missing(names, unexpected, meant) {
    const missing =
      names.length === 1 ? `${parameter(names[0])} is missing` : `Parameters ${quoted(names)} are missing`;
    if (unexpected.length === 0)
      return `${missing}. Add ${names.length === 1 ? "it" : "them"} and call again.`;
    const unknown = `you sent ${quoted(unexpected)}, which ${unexpected.length === 1 ? "is" : "are"} not known`;
    const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
    return `${missing}, and ${unknown}${hint || "."} ${AGAIN}`;
  },
  unexpected(names, near, known) {
    const isOne = names.length === 1;
    const unknown = isOne
      ? `${parameter(names[0])} is not known`
      : `Parameters ${quoted(names)} are not known`;
    const nearest = near.length > 0 ? `; did you mean ${list(near.map(inQuotes), " or ")}?` : undefined;
    const listed =
      known.length > 0
        ? `; the known ones are ${list(known.map(inQuotes), " and ")}.`
        : "; none are allowed here.";
    return `${unknown}${nearest ?? listed} ${AGAIN}`;
  },
  type(name, types, value) {
    const wanted = list(
      types.map((type) => TYPES[type] ?? type),
      " or ",
    );
    return `${parameter(name)} must be ${wanted}, but you sent ${described(value)}. ${AGAIN}`;
  },
  enum(name, allowed, count, value, near) {
    const more = count > allowed.length ? `, … (${count} values)` : "";
    const wanted =
      count === 1 ? `be ${quote(allowed[0] ?? null)}` : `be one of ${allowed.map(quote).join(", ")}${more}`;
    const nearest =
      near.length > 0 && count > 1 ? ` The nearest is ${list(near.map(inQuotes), " or ")}.` : "";
    return `${parameter(name)} must ${wanted}, but you sent ${described(value)}.${nearest} ${AGAIN}`;
  },
  rule(rule, name, limit, value) {
    return `${parameter(name)} ${RULES[rule](quote(limit))}, but you sent ${described(value)}. ${AGAIN}`;
  },
  bound(bound, name, limit) {
    switch (bound) {
      case "depth":
        return `The arguments are nested deeper than ${limit} levels. Send flatter arguments.`;
      case "length":
        return `The arguments are longer than ${limit} characters. Send less and call again.`;
      case "time":
        return "The arguments take too long to check. Send shorter or simpler arguments.";
      case "items":
        return `${parameter(name)} may have ${limit} items. Send fewer and call again.`;
      default:
        return bound satisfies never;
    }
  },
};

function parameter(name: string | undefined): string {
  return name === undefined ? "The arguments" : `Parameter ${inQuotes(name)}`;
}

function inQuotes(name: string): string {
  return `"${name}"`;
}

function quoted(names: readonly (string | undefined)[]): string {
  return list(
    names.map((name) => inQuotes(name ?? "")),
    " and ",
  );
}

function described(value: JsonValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  const type = Array.isArray(value) ? "array" : typeof value === "bigint" ? "number" : typeof value;
  return `the ${type} ${quote(value)}`;
}
