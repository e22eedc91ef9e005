import { EXAMPLES } from "./format-examples.ts";
import { type Listed, list, type Sent, type Wording } from "./message-parts.ts";
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

/** Shorter, where several types are possible. */
const SHORT: Readonly<Record<string, string>> = { boolean: "a boolean" };

/** What each rule demands; `limit` is already written as text. */
const RULES: Readonly<Record<Rule, (limit: string) => string>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be greater than ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  multipleOf: (limit) => `must be a multiple of ${limit}`,
  minLength: (limit) => `must have at least ${counted(limit, "character")}`,
  maxLength: (limit) => `must have at most ${counted(limit, "character")}`,
  pattern: (limit) => `must match the regular expression ${limit}`,
  format: (limit) =>
    `must have the format ${limit}${EXAMPLES.has(limit) ? `, such as ${EXAMPLES.get(limit)}` : ""}`,
  minItems: (limit) => `must have at least ${counted(limit, "item")}`,
  maxItems: (limit) => `must have at most ${counted(limit, "item")}`,
  uniqueItems: () => "must not hold the same item twice",
  contains: (limit) => `must hold at least ${counted(limit, "item")} of the kind that the schema requires`,
  maxContains: (limit) => `may hold at most ${counted(limit, "item")} of the kind that the schema limits`,
  additionalItems: () => "has more items than the schema allows",
  unevaluatedItems: () => "has more items than the schema allows",
  minProperties: (limit) => `must have at least ${counted(limit, "member")}`,
  maxProperties: (limit) => `must have at most ${counted(limit, "member")}`,
  propertyNames: (limit) => `must not have a member named ${limit}`,
  oneOf: (limit) => `must match exactly one of the ${limit} forms that the schema allows`,
  anyOf: (limit) => `must match one of the ${limit} forms that the schema allows`,
  not: () => "has a form that the schema forbids",
  "false schema": () => "is not allowed here",
};

function counted(limit: string, noun: string): string {
  return `${limit} ${noun}${limit === "1" ? "" : "s"}`;
}

/** The messages in English. */
export const english: Wording = {
  missing(names, unexpected, meant) {
    const isOne = names.count === 1;
    const missing = isOne
      ? `${parameter(names.shown[0])} is missing`
      : `Parameters ${quoted(names)} are missing`;
    if (unexpected.count === 0) return `${missing}. Add ${isOne ? "it" : "them"} and call again.`;
    const unknown = `you sent ${quoted(unexpected)}, which ${unexpected.count === 1 ? "is" : "are"} not known`;
    const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
    return `${missing}, and ${unknown}${hint || "."} ${AGAIN}`;
  },
  unexpected(names, near, known) {
    const unknown =
      names.count === 1
        ? `${parameter(names.shown[0])} is not known`
        : `Parameters ${quoted(names)} are not known`;
    if (near.length > 0) return `${unknown}; did you mean ${list(near.map(inQuotes), " or ")}? ${AGAIN}`;
    const listed = known.count > 0 ? `the known ones are ${quoted(known)}` : "none are allowed here";
    return `${unknown}; ${listed}. ${AGAIN}`;
  },
  type(name, types, value) {
    const words = types.map(
      (type) => (types.length > 1 ? (SHORT[type] ?? TYPES[type]) : TYPES[type]) ?? type,
    );
    return `${parameter(name)} must be ${list(words, " or ")}, but you sent ${described(value)}. ${AGAIN}`;
  },
  enum(name, { shown, count }, value, near) {
    const nearby = list(near.map(inQuotes), " or ");
    if (count > shown.length && nearby !== "") {
      return `${parameter(name)} must be one of ${count} values, the nearest is ${nearby}, but you sent ${described(value)}. ${AGAIN}`;
    }
    const more = count > shown.length ? `, … (${count} values)` : "";
    const wanted = count === 1 ? `be ${shown[0]}` : `be one of ${shown.join(", ")}${more}`;
    const nearest = nearby !== "" && count > 1 ? ` The nearest is ${nearby}.` : "";
    return `${parameter(name)} must ${wanted}, but you sent ${described(value)}.${nearest} ${AGAIN}`;
  },
  rule(rule, name, limit, value) {
    return `${parameter(name)} ${RULES[rule](limit)}, but you sent ${described(value)}. ${AGAIN}`;
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

function quoted({ shown, count }: Listed): string {
  const names = shown.map(inQuotes);
  return list(count > shown.length ? [...names, `${count - shown.length} more`] : names, " and ");
}

function described({ type, text }: Sent): string {
  return type === "null" || type === "boolean" ? text : `the ${type} ${text}`;
}
