import { compile, tokenize } from "@jmespath-community/jmespath";
import type { JsonValue } from "../json/value.ts";
import { evaluate, type Node } from "./evaluate.ts";
import { FUNCTIONS } from "./functions.ts";
import { chargeTree, isObject, Spelled } from "./item.ts";
import { Meter, SelectFailed } from "./meter.ts";

/** Characters of an expression. */
const MAX_SELECT_LENGTH = 1_024;

/** An expression that cannot be used. `position` counts UTF-16 units from 0. */
export class SelectFault extends Error {
  override readonly name = "SelectFault";
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/**
 * What an expression brought. `found` is `null` where nothing was there; `failed` finishes the sentence "the expression could not be
 * applied because …".
 */
export type Selected = { found: JsonValue } | { failed: string };

/** A compiled expression. */
export type Select = (value: JsonValue) => Selected;

/**
 * Compiles a JMESPath expression of at most 1,024 characters. Throws `SelectFault`.
 *
 * 1. Numbers keep how they were written, and integers every digit, wherever they are taken from and put.
 * 2. The work of one use is bounded, whatever the expression and the value are: too much of it is `failed`, as is an error in the sense
 *    of JMESPath.
 */
export function compileSelect(text: string): Select {
  if (text.length > MAX_SELECT_LENGTH) {
    throw new SelectFault(`it is longer than ${MAX_SELECT_LENGTH} characters`, MAX_SELECT_LENGTH);
  }
  const node = parsed(text);
  checkNumbers(text);
  check(node, text);
  return (value) => {
    const meter = new Meter();
    try {
      const item = evaluate(node, value, { root: value, variables: new Map(), meter });
      // One value can stand in the result many times: what would become too long a text is found out here.
      chargeTree(item, meter);
      return { found: item instanceof Spelled ? item.number : item };
    } catch (error) {
      if (error instanceof SelectFailed) return { failed: error.message };
      throw error;
    }
  };
}

/** The members of a value where an expression could begin; those of its first element if it is an array. */
export function membersOf(value: JsonValue): string[] {
  const first = Array.isArray(value) ? value[0] : value;
  return first !== undefined && isObject(first) ? Object.keys(first) : [];
}

function parsed(text: string): Node {
  try {
    return compile(text);
  } catch {
    throw new SelectFault("it is not valid JMESPath", faultPosition(text));
  }
}

/** Where the first token stands with which no longer text could be valid: the parser does not say. */
function faultPosition(text: string): number {
  const tokens = tokensOf(text);
  if (!tokens) {
    let readable = text.length;
    while (readable > 0 && !tokensOf(text.slice(0, readable))) readable--;
    return readable;
  }
  // What is hopeless stays so with more text behind it: the first such token is found by halving.
  let [from, to] = [0, tokens.length];
  while (from < to) {
    const at = (from + to) >> 1;
    if (isHopeless(text.slice(0, tokens[at + 1]?.start ?? text.length))) to = at;
    else from = at + 1;
  }
  return tokens[from]?.start ?? text.length;
}

function tokensOf(text: string): ReturnType<typeof tokenize> | undefined {
  try {
    return tokenize(text);
  } catch {
    return undefined;
  }
}

/** Whether the parser refuses the text for something else than its end. */
function isHopeless(text: string): boolean {
  try {
    compile(text);
    return false;
  } catch (error) {
    // Behind the last token the parser finds nothing where it expects a token.
    return !(error instanceof TypeError) && !/\(EOF\)|got: EOF$/u.test(String(error));
  }
}

/** The parser reads numbers as doubles, so that one with more digits would be compared with another one. */
function checkNumbers(text: string): void {
  for (const { value, start } of tokensOf(text) ?? []) {
    if (typeof value !== "number" || Number.isSafeInteger(value) || !Number.isInteger(value)) continue;
    throw new SelectFault("it has a number with more digits than can be compared", start);
  }
}

/** Where the left side finds nothing, these find nothing. */
const FIRST_LEFT: ReadonlySet<Node["type"]> = new Set([
  ...(["IndexExpression", "Projection", "ValueProjection", "FilterProjection", "Pipe"] as const),
]);

/** The members that an expression goes through first, from the root on: `["a", "b"]` for `a.b[*].c`. */
export function leadingMembers(text: string): string[] {
  const path: string[] = [];
  const isPlain = (node: Node): boolean => {
    if (node.type === "Field") path.push(node.name);
    if (node.type === "Field") return true;
    if (node.type === "Subexpression") return isPlain(node.left) && isPlain(node.right);
    if (node.type === "Flatten") isPlain(node.child);
    else if (FIRST_LEFT.has(node.type) && "left" in node) isPlain(node.left);
    return false;
  };
  isPlain(compile(text));
  return path;
}

/** What the parser lets pass though it can bring no value. */
function check(node: Node, text: string): void {
  const place = (name: string) =>
    Math.max(text.search(new RegExp(`(?<!\\w)${RegExp.escape(name)}\\s*\\(`, "u")), 0);
  walk(node, new Set(), (one, bound) => {
    switch (one.type) {
      case "Function": {
        const fault = FUNCTIONS.faultOf(
          one.name,
          one.children.map(({ type }) => type === "ExpressionReference"),
        );
        if (fault !== undefined) throw new SelectFault(fault, place(one.name));
        return;
      }
      case "Slice":
        if (one.step === 0) throw new SelectFault("the step of a slice is not 0", text.indexOf(":"));
        return;
      case "Variable":
        if (bound.has(one.name)) return;
        throw new SelectFault(`nothing is bound to $${one.name}`, text.indexOf(`$${one.name}`));
      case "ExpressionReference":
        throw new SelectFault("& stands in the arguments of functions only", text.indexOf("&"));
      case "Binding":
        throw new SelectFault(
          "= stands behind let only; to compare, write ==",
          text.search(/(?<![=!<>])=(?!=)/u),
        );
      default:
    }
  });
}

type Bound = ReadonlySet<string>;

/** Visits every node but `let`'s own bindings and the `&` of arguments, which are where they belong. */
function walk(node: Node, bound: Bound, visit: (node: Node, bound: Bound) => void): void {
  visit(node, bound);
  if (node.type === "LetExpression") {
    const names = node.bindings.map(({ variable }) => variable);
    for (const { reference } of node.bindings) walk(reference, bound, visit);
    walk(node.expression, new Set([...bound, ...names]), visit);
    return;
  }
  for (const child of childrenOf(node)) walk(child, bound, visit);
}

function childrenOf(node: Node): Node[] {
  if (node.type === "Function") {
    return node.children.map((child) => (child.type === "ExpressionReference" ? child.child : child));
  }
  const parts = Object.entries(node).flatMap(([name, part]) => (name === "value" ? [] : [part].flat()));
  return parts.flatMap((part: unknown) => {
    if (typeof part !== "object" || part === null) return [];
    return "type" in part && part.type === "KeyValuePair"
      ? [(part as unknown as { value: Node }).value]
      : [part as Node];
  });
}
