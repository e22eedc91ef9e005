import type { RuleChange } from "../../core/rules/tool-rules.ts";
import type { SchemaVerdict } from "../../core/schema/compiled-schema.ts";
import { explain } from "../../core/schema/message.ts";
import { parameterOf, pointerOf } from "../../core/schema/place.ts";
import type { Problem } from "../../core/schema/problem.ts";
import type { CheckedCall, Gate } from "./gate.ts";

/**
 * Gate 2: the arguments fit the tool's schema, as they are or after lossless coercion. What does not fit is judged once more in
 * the form that the tool's normalisers give it, since they can turn `三` into the integer that the schema wants.
 */
export const schemaGate: Gate = {
  name: "schema",
  check(checked, { locale }) {
    const { verdict, changes } = judge(checked);
    if (verdict.ok) {
      checked.value = verdict.value;
      return { gate: "schema", pass: true, changes: [...changes, ...verdict.coercions] };
    }
    const [problem] = verdict.problems;
    return {
      gate: "schema",
      pass: false,
      code: "arguments_invalid",
      problem: problem?.kind ?? "rule",
      feedback: problem ? explain(problem, locale) : "The arguments do not fit the tool's schema.",
      ...(problem && { path: parameterOf(problem) }),
    };
  },
};

function judge({ tool, value }: CheckedCall): { verdict: SchemaVerdict; changes: RuleChange[] } {
  const first = tool.schema.check(value);
  if (first.ok) return { verdict: first, changes: [] };
  const changes: RuleChange[] = [];
  const normalised = tool.rules.normalise(value, changes);
  if (changes.length === 0) return { verdict: first, changes };
  const second = tool.schema.check(normalised);
  if (second.ok) return { verdict: second, changes };
  return { verdict: { ...second, problems: inOwnWords(first.problems, second.problems, changes) }, changes };
}

/** The problems that are left; one with a value that was normalised in terms of what the model sent. */
function inOwnWords(
  before: readonly Problem[],
  after: readonly Problem[],
  changes: readonly RuleChange[],
): readonly Problem[] {
  const changed = new Set(changes.map(({ path }) => path));
  return after.map((problem) => {
    const at = pointerOf(problem);
    return (changed.has(at) && before.find((earlier) => pointerOf(earlier) === at)) || problem;
  });
}
