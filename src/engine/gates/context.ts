import type { JsonObject } from "../../core/json/value.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { CheckedCall, Gate, GateContext, NeededApproval, Verdict } from "./gate.ts";

/** Gate 4: this caller may do this now, with these arguments; and whether a person has to say so first. */
export const contextGate: Gate = {
  name: "context",
  check(checked, context) {
    const { tool, value } = checked;
    const objection =
      context.objection(tool) ??
      overused(tool, value as JsonObject, context) ??
      notElevated(tool, context) ??
      notReady(tool, value as JsonObject, context);
    if (objection) return { gate: "context", pass: false, ...objection };
    const approval = neededApproval(checked);
    return { gate: "context", pass: true, ...(approval && { approval }) };
  },
};

/** What stands in the way of a call. */
export type Objection = Pick<Extract<Verdict, { pass: false }>, "code" | "problem" | "feedback" | "rule">;

function notElevated({ definition }: RegisteredTool, context: GateContext): Objection | undefined {
  if (definition.level !== "admin" || context.isElevated()) return undefined;
  const feedback = {
    en: `"${definition.name}" needs an elevated session, which this one is not. It was not run. Tell the user.`,
    zh: `工具“${definition.name}”需要提升权限的会话，当前会话没有该权限，未执行。请告知用户。`,
  };
  return { code: "session_not_elevated", problem: "elevation", feedback: feedback[context.locale] };
}

/** The tool's preconditions on the state of the session. */
function notReady(
  { stateRules }: RegisteredTool,
  args: JsonObject,
  context: GateContext,
): Objection | undefined {
  if (stateRules.isEmpty) return undefined;
  const objection = stateRules.objection(args, context.stateFacts(), context.locale);
  return objection && { code: "precondition_failed", problem: "requires", ...objection };
}

function overused(tool: RegisteredTool, args: JsonObject, context: GateContext): Objection | undefined {
  const { max_calls_per_run: limit, name } = tool.definition;
  if (limit === undefined || context.callsOfTool(name) < limit || context.isKnown(tool, args))
    return undefined;
  return tooManyCalls(tool, context.locale);
}

/** Why a call beyond the tool's `max_calls_per_run` is not run. */
export function tooManyCalls({ definition }: RegisteredTool, locale: "en" | "zh"): Objection {
  const { max_calls_per_run: limit, name } = definition;
  const feedback = {
    en: `"${name}" may be called at most ${limit} times in one conversation turn. Answer with what you have.`,
    zh: `工具“${name}”在一轮对话中最多调用 ${limit} 次。请用已有信息回答。`,
  };
  return { code: "too_many_tool_calls", problem: "max_calls_per_run", feedback: feedback[locale] };
}

/**
 * What changes something needs a person, unless its tool says that it does not. Of a repaired call a person must see what it would change
 * in any case.
 */
function neededApproval({ tool, repairs }: CheckedCall): NeededApproval | undefined {
  const { level, confirm } = tool.definition;
  if (level === "read") return undefined;
  if (confirm !== "never") return "level";
  return repairs.length > 0 ? "repaired" : undefined;
}
