import type { compile } from "@jmespath-community/jmespath";
import type { JsonValue } from "../json/value.ts";
import { FUNCTIONS } from "./functions.ts";
import {
  arrayOf,
  type Container,
  compute,
  divide,
  type Expression,
  elements,
  equal,
  type Item,
  isFalse,
  isObject,
  numberOf,
  objectOf,
  take,
} from "./item.ts";
import { type Meter, SelectFailed } from "./meter.ts";

/** A parsed expression. */
export type Node = ReturnType<typeof compile>;

/** Some of the parser's types stand for several kinds of nodes. */
type NodeOf<T extends Node["type"], N = Node> = N extends { type: infer U }
  ? T extends U
    ? N
    : never
  : never;

/** What an expression is evaluated in: the whole document, what `let` has bound, and the work that is left. */
export interface Scope {
  root: Item;
  variables: ReadonlyMap<string, Item>;
  meter: Meter;
}

type Handlers = { [T in Node["type"]]: (node: NodeOf<T>, item: Item, scope: Scope) => Item };

/** The value of an expression. Throws `SelectFailed` where JMESPath knows an error, and when the work is too much. */
export function evaluate(node: Node, item: Item, scope: Scope): Item {
  scope.meter.charge(1);
  const handler = HANDLERS[node.type] as (node: Node, item: Item, scope: Scope) => Item;
  return handler(node, item, scope);
}

/** The left side first, then the right side of what it brought. */
function chained({ left, right }: { left: Node; right: Node }, item: Item, scope: Scope): Item {
  return evaluate(right, evaluate(left, item, scope), scope);
}

/** The right side of every item, without those that have none. */
function projected(items: readonly Item[], right: Node, scope: Scope): Item {
  scope.meter.charge(items.length);
  return arrayOf(items.map((item) => evaluate(right, item, scope)).filter((item) => item !== null));
}

const HANDLERS: Handlers = {
  Identity: (_, item) => item,
  Current: (_, item) => item,
  Root: (_node, _item, { root }) => root,
  Literal: ({ value }) => value as JsonValue,
  Field: ({ name }, item) => (isObject(item) ? take(item, name) : null),
  Subexpression({ left, right }, item, scope) {
    const found = evaluate(left, item, scope);
    return found === null ? null : evaluate(right, found, scope);
  },
  IndexExpression: chained,
  Pipe: chained,
  Index: ({ value }, item) =>
    Array.isArray(item) ? take(item, value < 0 ? item.length + value : value) : null,
  Slice: slice,
  Projection({ left, right }, item, scope) {
    const base = evaluate(left, item, scope);
    const isSlice = left.type === "IndexExpression" && left.right.type === "Slice";
    if (isSlice && typeof base === "string") return evaluate(right, base, scope);
    return Array.isArray(base) ? projected(elements(base), right, scope) : null;
  },
  ValueProjection({ left, right }, item, scope) {
    const base = evaluate(left, item, scope);
    return isObject(base) ? projected(membersOf(base), right, scope) : null;
  },
  FilterProjection({ left, right, condition }, item, scope) {
    const base = evaluate(left, item, scope);
    if (!Array.isArray(base)) return null;
    scope.meter.charge(base.length);
    const kept = elements(base).filter((one) => !isFalse(evaluate(condition, one, scope)));
    return projected(kept, right, scope);
  },
  Flatten({ child }, item, scope) {
    const base = evaluate(child, item, scope);
    if (!Array.isArray(base)) return null;
    scope.meter.charge(base.reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 1), 0));
    return arrayOf(elements(base).flatMap((one) => (Array.isArray(one) ? elements(one) : [one])));
  },
  Comparator: compare,
  Arithmetic({ operator, left, right }, item, scope) {
    const [a, b] = [operand(left, item, scope), operand(right, item, scope)];
    switch (operator) {
      case "Plus":
        return compute("+", a, b);
      case "Minus":
        return compute("-", a, b);
      case "Divide":
        return divide(a, b);
      case "Div":
        return Math.floor(divide(a, b));
      case "Modulo":
        divide(a, b);
        return Number(a) % Number(b);
      default:
        return compute("*", a, b);
    }
  },
  Unary({ operator, operand: child }, item, scope) {
    const value = operand(child, item, scope);
    return operator === "Minus" ? compute("-", 0, value) : value;
  },
  OrExpression({ left, right }, item, scope) {
    const first = evaluate(left, item, scope);
    return isFalse(first) ? evaluate(right, item, scope) : first;
  },
  AndExpression({ left, right }, item, scope) {
    const first = evaluate(left, item, scope);
    return isFalse(first) ? first : evaluate(right, item, scope);
  },
  NotExpression: ({ child }, item, scope) => isFalse(evaluate(child, item, scope)),
  Ternary({ condition, trueExpr, falseExpr }, item, scope) {
    return evaluate(isFalse(evaluate(condition, item, scope)) ? falseExpr : trueExpr, item, scope);
  },
  MultiSelectList: ({ children }, item, scope) =>
    arrayOf(children.map((child) => evaluate(child, item, scope))),
  MultiSelectHash: ({ children }, item, scope) =>
    objectOf(children.map(({ name, value }) => [name, evaluate(value, item, scope)] as const)),
  LetExpression({ bindings, expression }, item, scope) {
    const bound = bindings.map((binding) => {
      const { variable, reference } = binding as NodeOf<"Binding">;
      return [variable, evaluate(reference, item, scope)] as const;
    });
    return evaluate(expression, item, { ...scope, variables: new Map([...scope.variables, ...bound]) });
  },
  Binding: ({ reference }, item, scope) => evaluate(reference, item, scope),
  Variable({ name }, _item, { variables }) {
    const value = variables.get(name);
    if (value === undefined) throw new SelectFailed(`nothing is bound to $${name}`);
    return value;
  },
  Function({ name, children }, item, scope) {
    const args = children.map((child) => argument(child, item, scope));
    return FUNCTIONS.call(name, args, scope.meter);
  },
  // A reference to an expression is a value for functions only; `compileSelect` sees to it.
  ExpressionReference: () => null,
};

function argument(node: Node, item: Item, scope: Scope): Item | Expression {
  if (node.type !== "ExpressionReference") return evaluate(node, item, scope);
  return (one) => evaluate(node.child, one, scope);
}

function membersOf(object: Container): Item[] {
  return Object.keys(object).map((key) => take(object, key));
}

function operand(node: Node, item: Item, scope: Scope): number | bigint {
  const value = numberOf(evaluate(node, item, scope));
  if (value === undefined) throw new SelectFailed("it computes with something that is no number");
  return value;
}

/** Order is for numbers; all values can be equal. */
function compare({ name, left, right }: NodeOf<"Comparator">, item: Item, scope: Scope): Item {
  const [a, b] = [evaluate(left, item, scope), evaluate(right, item, scope)];
  if (name === "EQ" || name === "NE") return equal(a, b, scope.meter) === (name === "EQ");
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x === undefined || y === undefined) return null;
  if (name === "GT") return x > y;
  if (name === "GTE") return x >= y;
  return name === "LT" ? x < y : x <= y;
}

/** Every `step`th item from `start` up to `stop`, as in Python. */
function slice({ start, stop, step }: NodeOf<"Slice">, item: Item, { meter }: Scope): Item {
  if (!Array.isArray(item) && typeof item !== "string") return null;
  meter.charge(item.length);
  const items: readonly Item[] = typeof item === "string" ? [...item] : elements(item);
  const by = step ?? 1;
  const { length } = items;
  const bound = (at: number | null, open: number): number => {
    if (at === null) return open;
    const place = at < 0 ? at + length : at;
    return by > 0 ? Math.min(Math.max(place, 0), length) : Math.min(Math.max(place, -1), length - 1);
  };
  const from = bound(start, by > 0 ? 0 : length - 1);
  const to = bound(stop, by > 0 ? length : -1);
  const taken: Item[] = [];
  for (let at = from; by > 0 ? at < to : at > to; at += by) taken.push(items[at] as Item);
  return typeof item === "string" ? taken.join("") : arrayOf(taken);
}
