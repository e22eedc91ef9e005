import type { ErrorDetail } from "../../errors.ts";
import { type JsonObject, type JsonValue, setMember } from "../json/value.ts";
import { Patterns } from "../schema/pattern.ts";
import type { Precondition, RuleMessage, ToolDefinition } from "../tool.ts";
import { declaredProperties } from "../tool-endpoint.ts";
import { fromCel, PRECONDITION_LANGUAGE, STATE_LANGUAGE, toCel } from "./cel-environment.ts";
import {
  type CelVariables,
  compileExpression,
  type Expression,
  type ExpressionContext,
} from "./expression.ts";
import { Meter } from "./meter.ts";
import { type Locale, preconditionText, ruleText, unclearText } from "./texts.ts";
import { type RuleFacts, variablesOf } from "./tool-rules.ts";

/** What preconditions and state may know beside the arguments. */
export interface StateFacts extends RuleFacts {
  readonly state: JsonObject;
  /** By tool, how often it has succeeded in the session. */
  readonly toolsUsed: Readonly<Record<string, number>>;
}

/** Why a call may not run in the state that its session is in. */
export interface StateObjection {
  readonly feedback: string;
  /** The precondition: its name, or its place, from 1. */
  readonly rule: string;
}

/** What a successful call writes into the state of its session. `faults` are the keys whose expression could not be evaluated. */
export interface StateChanges {
  readonly state: JsonObject;
  readonly faults: readonly { readonly key: string; readonly reason: string }[];
}

interface CompiledPrecondition {
  readonly name: string | undefined;
  readonly check: Expression;
  readonly message: RuleMessage | undefined;
}

/** What one tool asks of the state of a session, and what it writes into it. */
export class StateRules {
  readonly #requires: readonly CompiledPrecondition[];
  readonly #sets: readonly (readonly [key: string, value: Expression])[];
  readonly #meter: Meter;

  constructor(
    requires: readonly CompiledPrecondition[],
    sets: readonly (readonly [key: string, value: Expression])[],
    meter: Meter,
  ) {
    this.#requires = requires;
    this.#sets = sets;
    this.#meter = meter;
  }

  /** Whether the tool has to do with the state of a session at all. */
  get isEmpty(): boolean {
    return this.#requires.length + this.#sets.length === 0;
  }

  /** Whether the tool asks anything of the state. */
  get hasPreconditions(): boolean {
    return this.#requires.length > 0;
  }

  /** The first precondition that is not met. One that cannot be evaluated is not met. Never throws; time is bounded. */
  objection(args: JsonObject, facts: StateFacts, locale: Locale): StateObjection | undefined {
    if (this.#requires.length === 0) return undefined;
    this.#meter.begin();
    const variables = stateVariables(args, facts);
    for (const [at, { name, check, message }] of this.#requires.entries()) {
      const outcome = check.evaluate(variables);
      const rule = name ?? `${at + 1}`;
      if ("reason" in outcome) return { rule, feedback: unclearText(name, outcome.reason, locale) };
      if (!outcome.holds) {
        return { rule, feedback: message ? ruleText(message, locale) : preconditionText(locale) };
      }
    }
    return undefined;
  }

  /** What a call that succeeded with this result changes. Never throws; time is bounded. */
  changes(args: JsonObject, result: JsonValue, facts: StateFacts): StateChanges {
    const state: JsonObject = {};
    const faults: { key: string; reason: string }[] = [];
    if (this.#sets.length === 0) return { state, faults };
    this.#meter.begin();
    const variables = { ...stateVariables(args, facts), result: toCel(result) };
    for (const [key, expression] of this.#sets) {
      const computed = expression.compute(variables);
      if ("reason" in computed) {
        faults.push({ key, reason: computed.reason });
        continue;
      }
      try {
        setMember(state, key, fromCel(computed.value));
      } catch (error) {
        faults.push({ key, reason: error instanceof Error ? error.message : "it failed" });
      }
    }
    return { state, faults };
  }
}

function stateVariables(args: JsonObject, facts: StateFacts): CelVariables {
  const used = Object.entries(facts.toolsUsed).map(([name, count]): [string, bigint] => [
    name,
    BigInt(count),
  ]);
  return { ...variablesOf(args, facts), state: toCel(facts.state), tools_used: new Map(used) };
}

/** The members of a definition that this is about; their form is checked already. */
export type StateMembers = Pick<ToolDefinition, "requires" | "sets" | "parameters">;

/** Compiles what a tool asks of its session. Faults are added to `faults`; with any, what is returned is not to be used. */
export function readStateRules(members: StateMembers, faults: ErrorDetail[]): StateRules {
  const { requires = [], sets = {}, parameters } = members;
  const meter = new Meter();
  const known = new Map([
    ["args", declaredProperties(parameters)],
    ["session", new Set(["id"])],
    ["caller", new Set(["name", "level"])],
  ]);
  const context = { meter, patterns: new Patterns(meter), known };
  const compiled = requires.flatMap((one, at) => precondition(one, `requires[${at}].check`, context, faults));
  const values = Object.entries(sets).flatMap(([key, source]) => {
    const value = read(
      source,
      `sets.${key}`,
      { ...context, language: STATE_LANGUAGE, isValue: true },
      faults,
    );
    return value ? [[key, value] as const] : [];
  });
  return new StateRules(compiled, values, meter);
}

function precondition(
  { name, check, message }: Precondition,
  at: string,
  context: ExpressionContext,
  faults: ErrorDetail[],
): CompiledPrecondition[] {
  const expression = read(check, at, { ...context, language: PRECONDITION_LANGUAGE }, faults);
  return expression ? [{ name, check: expression, message }] : [];
}

function read(
  source: string,
  at: string,
  context: ExpressionContext,
  faults: ErrorDetail[],
): Expression | undefined {
  const expression = compileExpression(source, context);
  if (!Array.isArray(expression)) return expression;
  for (const fault of expression) {
    const message = `"${at}" cannot be used, at character ${fault.at + 1}: ${fault.message}.`;
    faults.push({ reason: "invalid_expression", path: at, message });
  }
  return undefined;
}
