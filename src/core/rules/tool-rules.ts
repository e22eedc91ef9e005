import { withSpellings } from "../json/spelling.ts";
import { type JsonObject, type JsonValue, setMember } from "../json/value.ts";
import { shortPointer } from "../schema/place.ts";
import { step } from "../schema/pointer.ts";
import type { RemoteRule, RuleMessage } from "../tool.ts";
import { toCel } from "./cel-environment.ts";
import type { CelVariables, Expression } from "./expression.ts";
import { findGuardProblem, type Guard } from "./guard.ts";
import type { Meter } from "./meter.ts";
import { type Normalised, type Normaliser, normalise } from "./normaliser.ts";
import { guardText, type Locale, ruleText, unclearText } from "./texts.ts";

/** A change that rules make to arguments; `from` is absent where a default was filled in. */
export interface RuleChange {
  /** JSON pointer. */
  readonly path: string;
  readonly from?: JsonValue;
  readonly to: JsonValue;
  readonly by: "normalize" | "defaults";
}

/** What expressions may know beside the arguments. */
export interface RuleFacts {
  /** Unix milliseconds. */
  readonly now: number;
  readonly sessionId: string;
  readonly caller: { readonly name: string; readonly level: string };
}

/** Why a call may not run. */
export interface RuleObjection {
  readonly problem: "rule" | "guard";
  readonly feedback: string;
  /** JSON pointer of the string that the guard refuses. */
  readonly path?: string;
  /** The condition: its name, or its place among the conditions, from 1. */
  readonly rule?: string;
}

/** A condition of a tool, compiled. */
export interface CompiledCheck {
  readonly name: string | undefined;
  readonly when: Expression | undefined;
  readonly check: Expression;
  readonly message: RuleMessage;
}

/** A service that is asked, where `when` holds. */
export interface CompiledRemote {
  readonly rule: RemoteRule;
  readonly when: Expression | undefined;
}

/** The parts that rules are made of. */
export interface RuleParts {
  readonly normalisers: readonly Normaliser[];
  readonly defaults: JsonObject;
  readonly checks: readonly CompiledCheck[];
  readonly remotes: readonly CompiledRemote[];
  readonly guard: Guard | undefined;
  readonly meter: Meter;
}

/** The rules of one tool, ready for calls. */
export class ToolRules {
  readonly #parts: RuleParts;
  /** Whether the tool has none. */
  readonly isEmpty: boolean;

  constructor(parts: RuleParts) {
    const { normalisers, defaults, checks, remotes, guard } = parts;
    this.#parts = parts;
    const hasAny = [normalisers, checks, remotes, Object.keys(defaults)].some((list) => list.length > 0);
    this.isEmpty = !hasAny && guard === undefined;
  }

  /** What the expressions of a rule read, in the order of the definition; services have only a `when`. */
  get expressions(): readonly {
    name: string | undefined;
    when: Expression | undefined;
    check?: Expression;
  }[] {
    return [
      ...this.#parts.checks,
      ...this.#parts.remotes.map(({ rule, when }) => ({ name: rule.name, when })),
    ];
  }

  /** Brings parameters into the form that the tool wants; doing it twice changes nothing. Adds what changed to `changes`. */
  normalise(value: JsonValue, changes: RuleChange[]): JsonValue {
    if (this.#parts.normalisers.length === 0) return value;
    const normalised: Normalised[] = [];
    const result = normalise(value, this.#parts.normalisers, normalised);
    changes.push(...normalised.map((change): RuleChange => ({ ...change, by: "normalize" })));
    return result;
  }

  /** Adds the defaults of parameters that are absent. Adds what changed to `changes`. */
  fill(args: JsonObject, changes: RuleChange[]): JsonObject {
    const absent = Object.entries(this.#parts.defaults).filter(([name]) => !Object.hasOwn(args, name));
    if (absent.length === 0) return args;
    const filled: JsonObject = {};
    for (const [name, value] of [...Object.entries(args), ...absent]) setMember(filled, name, value);
    changes.push(...absent.map(([name, to]): RuleChange => ({ path: step("", name), to, by: "defaults" })));
    return withSpellings(filled, args);
  }

  /**
   * What speaks against a call: its conditions in their order, then the guard. A condition that cannot be evaluated counts as
   * one that is not met. Never throws; time is bounded.
   */
  judge(args: JsonObject, facts: RuleFacts, locale: Locale): RuleObjection | undefined {
    const { checks, guard, meter } = this.#parts;
    if (checks.length > 0) {
      meter.begin();
      const variables = variablesOf(args, facts);
      for (const [at, each] of checks.entries()) {
        const feedback = unmet(each, variables, locale);
        if (feedback !== undefined) return { problem: "rule", feedback, rule: each.name ?? `${at + 1}` };
      }
    }
    const problem = guard && findGuardProblem(guard, args);
    return (
      problem && {
        problem: "guard",
        feedback: guardText(problem, locale),
        path: shortPointer(problem),
      }
    );
  }

  /** The services to ask about a call, in their order; an objection where a `when` cannot be evaluated. */
  remotes(args: JsonObject, facts: RuleFacts, locale: Locale): readonly RemoteRule[] | RuleObjection {
    const { remotes, meter } = this.#parts;
    if (remotes.length === 0) return [];
    meter.begin();
    const variables = variablesOf(args, facts);
    const asked: RemoteRule[] = [];
    for (const { rule, when } of remotes) {
      const outcome = when?.evaluate(variables) ?? { holds: true };
      if ("reason" in outcome)
        return {
          problem: "rule",
          feedback: unclearText(rule.name, outcome.reason, locale),
          ...(rule.name !== undefined && { rule: rule.name }),
        };
      if (outcome.holds) asked.push(rule);
    }
    return asked;
  }
}

/** What every expression sees. */
export function variablesOf(args: JsonObject, { now, sessionId, caller }: RuleFacts): CelVariables {
  return {
    args: toCel(args),
    now: new Date(now),
    session: { id: sessionId },
    caller: { name: caller.name, level: caller.level },
  };
}

function unmet(rule: CompiledCheck, variables: CelVariables, locale: Locale): string | undefined {
  for (const expression of [rule.when, rule.check]) {
    const outcome = expression?.evaluate(variables) ?? { holds: true };
    if ("reason" in outcome) return unclearText(rule.name, outcome.reason, locale);
    if (!outcome.holds) return expression === rule.check ? ruleText(rule.message, locale) : undefined;
  }
  return undefined;
}
