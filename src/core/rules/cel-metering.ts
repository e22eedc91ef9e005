import type { Patterns } from "../schema/pattern.ts";
import { type CelNode, calledName, childNodes } from "./cel-node.ts";
import type { Meter } from "./meter.ts";

/** Characters that one step pays for. */
const CHARACTERS_PER_STEP = 16;
/** Reading a clock in a time zone makes the runtime build a formatter. */
const TIME_ZONE_STEPS = 2_000;

const OPERATORS: ReadonlySet<string> = new Set([
  "==",
  "!=",
  "in",
  "+",
  "-",
  "*",
  "/",
  "%",
  "<",
  "<=",
  ">",
  ">=",
]);

/**
 * Makes every node of a checked expression that has work of its own pay for it before it does it, and lets `matches` run on
 * linear-time patterns. Returns the number of nodes. Throws an `Error` if a node cannot be metered.
 */
export function meterExpression(node: CelNode, meter: Meter, patterns: Patterns): number {
  // `has` looks one member up; its operand is a path, not a value.
  const isHas = node.meta.macro !== undefined;
  const sizes = isHas ? [] : childNodes(node).map((child) => meterExpression(child, meter, patterns));
  const size = 1 + sizes.reduce((sum, each) => sum + each, 0);
  if (!isHas && !node.meta.alternate) wrap(node, sizes.at(-1) ?? 0, meter, patterns);
  return size;
}

function wrap(node: CelNode, lastSize: number, meter: Meter, patterns: Patterns): void {
  const { op } = node;
  if (op === "comprehension") {
    before(node, (items) => meter.charge(countOf(items) * (lastSize + 1)));
  } else if (OPERATORS.has(op)) {
    before(node, (left, right) => payOperator(meter, op, left, right));
  } else if (calledName(node) === "matches") {
    node.handle = (operands) => matches(operands as unknown[], patterns);
  } else if (calledName(node) !== undefined) {
    before(node, (operands) => payCall(meter, calledName(node) as string, operands as unknown[]));
  }
}

function before(node: CelNode, pay: (...operands: unknown[]) => void): void {
  const { handle } = node;
  if (handle === undefined) throw new Error(`no work is known for ${node.op}`);
  node.handle = (...operands) => {
    pay(...operands);
    return handle(...operands);
  };
}

/** RE2 in place of the native expressions of the library, which can backtrack. The pattern pays for itself. */
function matches([text, pattern]: unknown[], patterns: Patterns): boolean {
  if (typeof text !== "string" || typeof pattern !== "string") throw new Error("matches() needs a string");
  return patterns.get(pattern).test(text);
}

function payOperator(meter: Meter, op: string, left: unknown, right: unknown): void {
  if (op === "==" || op === "!=") payWhole(meter, left);
  else if (op === "in") payWhole(meter, right);
  else meter.charge(1 + lengthOf(left) + lengthOf(right));
}

function payCall(meter: Meter, name: string, operands: readonly unknown[]): void {
  if (name.startsWith("get") && operands.length > 1) meter.charge(TIME_ZONE_STEPS);
  // Each character can become an element.
  if (name === "split") meter.charge(String(operands[0]).length);
  meter.charge(operands.reduce<number>((sum, each) => sum + lengthOf(each), 1));
}

/** Pays for a value with all that is in it. */
function payWhole(meter: Meter, value: unknown): void {
  meter.charge(1 + lengthOf(value));
  if (Array.isArray(value)) for (const item of value) payWhole(meter, item);
  if (value instanceof Map) for (const member of value.values()) payWhole(meter, member);
}

function countOf(items: unknown): number {
  if (Array.isArray(items)) return items.length;
  return items instanceof Map ? items.size : 0;
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? Math.ceil(value.length / CHARACTERS_PER_STEP) : countOf(value);
}
