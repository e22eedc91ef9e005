import { Environment } from "@marcbachmann/cel-js";
import { type JsonObject, type JsonValue, setMember } from "../json/value.ts";

/** Characters of one expression. */
export const MAX_EXPRESSION = 2_000;

const LIMITS = {
  maxAstNodes: 300,
  maxDepth: 32,
  maxListElements: 200,
  maxMapEntries: 50,
  maxCallArguments: 8,
};

const TIMESTAMP = "google.protobuf.Timestamp";

/** Variables beside those that every expression has. */
function createEnvironment(more: Readonly<Record<string, string>> = {}): Environment {
  const environment = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false })
    .registerVariable("args", "map")
    .registerVariable("now", TIMESTAMP)
    .registerVariable("session", "map<string, string>")
    .registerVariable("caller", "map<string, string>");
  for (const [name, type] of Object.entries(more)) environment.registerVariable(name, type);
  environment
    .registerFunction(`date(string): ${TIMESTAMP}`, { async: false, handler: midnight })
    .registerFunction("sum(list): double", { async: false, handler: sum });
  for (const [operator, combine] of MIXED) {
    environment
      .registerOperator(`double ${operator} int: double`, (a: number, b: bigint) => combine(a, Number(b)))
      .registerOperator(`int ${operator} double: double`, (a: bigint, b: number) => combine(Number(a), b));
  }
  return environment
    .registerOperator("double % double: double", remainder)
    .registerOperator("double == int", (a: number, b: bigint) => sameNumber(a, b));
}

const remainder = (a: number, b: number): number => {
  if (b === 0) throw new Error("modulo by zero");
  return a % b;
};

const MIXED: readonly [operator: string, combine: (a: number, b: number) => number][] = [
  ["+", (a, b) => a + b],
  ["-", (a, b) => a - b],
  ["*", (a, b) => a * b],
  ["/", (a, b) => a / b],
  ["%", remainder],
];

/** Equal as numbers are: a `bigint` is not rounded. */
function sameNumber(a: number, b: bigint): boolean {
  return Number.isInteger(a) && BigInt(a) === b;
}

function midnight(text: string): Date {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  if (date === undefined || Number.isNaN(date.getTime()))
    throw new Error(`"${text.slice(0, 40)}" is not a date`);
  return date;
}

function sum(list: readonly unknown[]): number {
  return list.reduce<number>((total, item) => {
    if (typeof item !== "number" && typeof item !== "bigint")
      throw new Error("sum() needs a list of numbers");
    return total + Number(item);
  }, 0);
}

/**
 * The language of rules: CEL with the variables `args`, `now`, `session` and `caller`, and beside its own functions
 * `date("2024-01-31")`, midnight UTC of a day, and `sum(list)`. Numbers of JSON are doubles, as CEL has it, and may be
 * combined with the integers that an expression writes.
 */
export const RULE_LANGUAGE = createEnvironment();

const STATE = { state: "map", tools_used: "map<string, int>" };

/** The same for preconditions, which also see `state` of the session and `tools_used`, how often each tool has succeeded in it. */
export const PRECONDITION_LANGUAGE = createEnvironment(STATE);

/** The same for what is written into the state, which also see `result`, the data that the tool returned. */
export const STATE_LANGUAGE = createEnvironment({ ...STATE, result: "dyn" });

/**
 * What an expression came to as a JSON value. Throws an `Error` for what JSON cannot hold: bytes, durations, numbers beyond the
 * doubles and integers beyond 2^53.
 */
export function fromCel(value: unknown): JsonValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "number" || typeof value === "bigint") return numberFromCel(value);
  if (Array.isArray(value)) return value.map(fromCel);
  const object: JsonObject = {};
  for (const [key, member] of membersOf(value)) setMember(object, String(key), fromCel(member));
  return object;
}

/** Of a map of data, or of a map that an expression writes. */
function membersOf(value: unknown): Iterable<[unknown, unknown]> {
  if (value instanceof Map) return value;
  const prototype: unknown = typeof value === "object" && value !== null && Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return Object.entries(value as object);
  throw new Error("it comes to a value that JSON cannot hold");
}

function numberFromCel(value: number | bigint): number {
  const number = Number(value);
  const isHeld = typeof value === "bigint" ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (!isHeld) throw new Error("it comes to a number that cannot be kept digit for digit");
  return number;
}

/** A JSON value as expressions see it: objects are maps, so that nothing but their own members can be reached. */
export function toCel(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toCel);
  return new Map(Object.entries(value).map(([key, member]) => [key, toCel(member)]));
}
