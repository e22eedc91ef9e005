import type { ToolDefinition } from "../tool.ts";
import { type LintNote, note } from "../tool-lint-note.ts";
import type { ToolRules } from "./tool-rules.ts";

/** What could be better about the rules of a valid definition. */
export function lintRules(
  { parameters, defaults = {} }: Pick<ToolDefinition, "parameters" | "defaults">,
  rules: ToolRules,
): LintNote[] {
  const required = new Set(Array.isArray(parameters?.["required"]) ? parameters["required"] : []);
  const useless = Object.keys(defaults).filter((name) => required.has(name));
  return [
    ...useless.map((name) => {
      const message = `"${name}" is required: a call without it is refused before its default is looked at.`;
      return note("default_unused", `defaults.${name}`, message, `take "${name}" out of "required"`);
    }),
    ...lintOptional(rules, (name) => required.has(name) || Object.hasOwn(defaults, name)),
  ];
}

/** A rule that reads what is not there refuses the call. */
function lintOptional(rules: ToolRules, isThere: (name: string) => boolean): LintNote[] {
  return rules.expressions.flatMap(({ name, when, check }) => {
    const expressions = [when, check].filter((expression) => expression !== undefined);
    const asked = new Set(expressions.flatMap((expression) => [...expression.asked]));
    const read = new Set(expressions.flatMap((expression) => [...expression.read]));
    const open = [...read].filter((argument) => !asked.has(argument) && !isThere(argument));
    return open.map((argument) => {
      const rule = name === undefined ? "A rule" : `The rule "${name}"`;
      const message = `${rule} reads "${argument}", which is optional: a call without it is refused.`;
      return note("rule_reads_optional", "rules", message, `"when": "has(args.${argument})"`);
    });
  });
}
