import type { JsonObject } from "../../core/json/value.ts";
import { saidText, unavailableText, unfitText } from "../../core/rules/texts.ts";
import type { RuleChange, RuleObjection } from "../../core/rules/tool-rules.ts";
import { explain } from "../../core/schema/message.ts";
import { parameterOf } from "../../core/schema/place.ts";
import type { RemoteRule } from "../../core/tool.ts";
import type { Change, CheckedCall, Gate, GateContext, Verdict } from "./gate.ts";

type Refusal = Extract<Verdict, { pass: false }>;

/**
 * Gate 3: the tool's own rules, in this order: normalise, fill in defaults, conditions, guard, services. What normalising or a
 * default changed is judged by the schema again: the tool never gets what its schema refuses.
 */
export const rulesGate: Gate = {
  name: "rules",
  check(checked, context) {
    const { rules } = checked.tool;
    if (rules.isEmpty) return { gate: "rules", pass: true };
    const changes: Change[] = [];
    const refusal = prepare(checked, context, changes);
    if (refusal) return refusal;
    const args = checked.value as JsonObject;
    const facts = context.facts();
    const objection = rules.judge(args, facts, context.locale);
    if (objection) return refuse(objection);
    const remotes = rules.remotes(args, facts, context.locale);
    if ("problem" in remotes) return refuse(remotes);
    const passed: Verdict = { gate: "rules", pass: true, changes };
    return remotes.length === 0 ? passed : askAll(remotes, args, context, passed);
  },
};

/** Brings the arguments into their final form. */
function prepare(checked: CheckedCall, { locale }: GateContext, changes: Change[]): Refusal | undefined {
  const { rules, schema } = checked.tool;
  const made: RuleChange[] = [];
  const normalised = rules.normalise(checked.value, made) as JsonObject;
  const args = rules.fill(normalised, made);
  if (made.length === 0) return undefined;
  const verdict = schema.check(args);
  if (!verdict.ok) {
    const [problem] = verdict.problems;
    const feedback = unfitText(problem ? explain(problem, locale) : "", locale);
    return refuse({ problem: "normalise", feedback, ...(problem && { path: parameterOf(problem) }) });
  }
  checked.value = verdict.value;
  changes.push(...made, ...verdict.coercions);
  return undefined;
}

async function askAll(
  remotes: readonly RemoteRule[],
  args: JsonObject,
  context: GateContext,
  passed: Verdict,
): Promise<Verdict> {
  const { locale } = context;
  for (const rule of remotes) {
    const answer = await context.ask(rule, args);
    const named = rule.name === undefined ? {} : { rule: rule.name };
    if (answer === undefined) {
      const refusal = refuse({ problem: "remote", feedback: unavailableText(locale), ...named });
      return { ...refusal, code: "check_unavailable" };
    }
    if (!answer.ok) {
      return refuse({
        problem: "remote",
        feedback: saidText(rule.message, answer.message, locale),
        ...named,
      });
    }
  }
  return passed;
}

function refuse(
  objection: Omit<RuleObjection, "problem"> & { problem: "normalise" | "rule" | "guard" | "remote" },
): Refusal {
  const isRule = objection.problem === "rule" || objection.problem === "remote";
  return { gate: "rules", pass: false, code: isRule ? "rule_violated" : "arguments_invalid", ...objection };
}
