import { type Environment, EvaluationError, ParseError, TypeError as TypeFault } from "@marcbachmann/cel-js";
import type { Patterns } from "../schema/pattern.ts";
import { argumentsIn, type CelFault, celFaults, type KnownMembers, patternsIn } from "./cel-check.ts";
import { MAX_EXPRESSION, RULE_LANGUAGE } from "./cel-environment.ts";
import { meterExpression } from "./cel-metering.ts";
import { celNode } from "./cel-node.ts";
import { type Meter, RulesTooLong } from "./meter.ts";

/** What a condition came to. `reason` is for the model, without the expression. */
export type Outcome = { readonly holds: boolean } | { readonly reason: string };

/** What an expression came to, in the form of the expression language. `reason` as above. */
export type Computed = { readonly value: unknown } | { readonly reason: string };

/** What expressions see. */
export interface CelVariables extends Record<string, unknown> {
  readonly args: unknown;
  readonly now: Date;
  readonly session: Readonly<Record<string, string>>;
  readonly caller: Readonly<Record<string, string>>;
}

/** An expression that is checked and metered. */
export interface Expression {
  /** Arguments that it reads, and those that it asks for with `has`. */
  readonly read: ReadonlySet<string>;
  readonly asked: ReadonlySet<string>;
  /** As a condition. Never throws. */
  evaluate(variables: CelVariables): Outcome;
  /** As a value. Never throws. */
  compute(variables: CelVariables): Computed;
}

/** What the expressions of one tool share. */
export interface ExpressionContext {
  readonly meter: Meter;
  readonly patterns: Patterns;
  readonly known: KnownMembers;
  /** `RULE_LANGUAGE` unless given. */
  readonly language?: Environment;
  /** It may come to anything and not only to a boolean. */
  readonly isValue?: boolean;
}

/**
 * Compiles an expression.
 *
 * 1. It is valid CEL of bounded size, its types fit, and it comes to a boolean unless it may be any value.
 * 2. It cannot reach anything but its variables: an allow-list of functions, no members of JavaScript objects.
 * 3. Its work is bounded: two loops inside each other, patterns in linear time, and every step is paid for.
 *
 * Returns the faults of one that cannot be accepted.
 */
export function compileExpression(source: string, context: ExpressionContext): Expression | CelFault[] {
  if (source.length > MAX_EXPRESSION)
    return [{ at: 0, message: `it is longer than ${MAX_EXPRESSION} characters` }];
  try {
    return compile(source, context);
  } catch (error) {
    return [faultOf(error)];
  }
}

function compile(source: string, context: ExpressionContext): Expression | CelFault[] {
  const { meter, patterns, known, language = RULE_LANGUAGE, isValue = false } = context;
  const parsed = language.parse(source);
  const root = celNode(parsed.ast);
  const faults = celFaults(root, known);
  if (faults.length > 0) return faults;
  const checked = parsed.check();
  if (!checked.valid) return [faultOf(checked.error)];
  if (!isValue && checked.type !== "bool" && checked.type !== "dyn")
    return [{ at: 0, message: `it must come to a boolean, and comes to ${checked.type}` }];
  for (const pattern of patternsIn(root)) readPattern(patterns, pattern);
  meterExpression(root, meter, patterns);
  const compute = (variables: CelVariables) => run(() => parsed(variables), meter);
  return { ...argumentsIn(root), compute, evaluate: (variables) => asCondition(compute(variables)) };
}

function readPattern(patterns: Patterns, pattern: string): void {
  try {
    patterns.get(pattern);
  } catch (error) {
    // What follows the semicolon is advice about schemas.
    const [reason] = (error instanceof Error ? error.message : "").split(";");
    throw new Error(`the pattern ${JSON.stringify(pattern.slice(0, 60))} cannot be used: ${reason}`, {
      cause: error,
    });
  }
}

function run(evaluate: () => unknown, meter: Meter): Computed {
  let value: unknown;
  try {
    value = evaluate();
  } catch (error) {
    return { reason: reasonOf(error, meter) };
  }
  if (meter.isSpent) return { reason: reasonOf(new RulesTooLong(), meter) };
  return { value };
}

function asCondition(computed: Computed): Outcome {
  if ("reason" in computed) return computed;
  const { value } = computed;
  return typeof value === "boolean" ? { holds: value } : { reason: "it does not come to true or false" };
}

function reasonOf(error: unknown, meter: Meter): string {
  if (meter.isSpent) return "it would take too long";
  if (error instanceof EvaluationError) return error.summary;
  return error instanceof Error ? error.message : "it failed";
}

function faultOf(error: unknown): CelFault {
  if (error instanceof ParseError || error instanceof TypeFault)
    return { at: error.range?.start ?? 0, message: error.summary };
  return { at: 0, message: error instanceof Error ? error.message : "it cannot be read" };
}
