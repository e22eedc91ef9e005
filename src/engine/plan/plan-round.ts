import type { JsonPath, JsonValue } from "../../core/json/value.ts";
import type { EarlyBudget } from "../../core/schema/early-check.ts";
import { explain } from "../../core/schema/message.ts";
import { parameterOf } from "../../core/schema/place.ts";
import type { Problem } from "../../core/schema/problem.ts";
import { canBecome, SchemaShape, typesText } from "../../core/schema/schema-shape.ts";
import { type PlannedCall, refuse, refuseEarly } from "../calls/planned-call.ts";
import { type CheckedCall, takeThought } from "../gates/gate.ts";
import { syntaxGate } from "../gates/syntax.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { hopelessAt, MAX_WORK } from "../reply/hopeless-calls.ts";
import type { Run } from "../run-state.ts";
import { type PlanStep, planCalls } from "./plan.ts";
import { codeOf, explainPlan, type PlanFault, problemOf } from "./plan-fault.ts";
import { findReferences, type PlacedReference, REFERENCE_MARK } from "./references.ts";

/** Plans the calls of a round, and refuses those whose references cannot come to anything. */
export function planRound(run: Run, planned: readonly PlannedCall[]): PlanStep[] {
  if (!planned.some(({ call }) => call.raw.includes(REFERENCE_MARK))) return [];
  const calls = planned.map((entry) => ({ name: entry.call.name, args: readArguments(run, entry) }));
  const plan = planCalls(calls, (name) => run.offer.owner(name));
  for (const [at, step] of plan.entries()) {
    const entry = planned[at] as PlannedCall;
    const needs = step.needs.map((needed) => planned[needed]?.call.id ?? "");
    if (needs.length > 0) entry.record.needs = needs;
    const fault = step.fault ?? promised(run, entry, step.references);
    if (entry.result) continue;
    if (fault) refuseByPlan(run, entry, fault);
    else if (step.references.length > 0) refuseHopeless(run, entry, calls[at]?.args);
  }
  return plan;
}

/** What a call with references brings along itself is judged before anything runs. */
function refuseHopeless(run: Run, entry: PlannedCall, args: JsonValue = null): void {
  const { tool } = entry;
  const problem = tool && hopelessIn(tool, args, [], { left: MAX_WORK });
  if (!problem) return;
  refuseEarly(run, entry, tool, {
    gate: "schema",
    pass: false,
    code: "arguments_invalid",
    problem: problem.kind,
    feedback: explain(problem, run.locale),
    path: parameterOf(problem),
  });
}

/** The first of the largest parts without references that can never fit. */
function hopelessIn(
  tool: RegisteredTool,
  value: JsonValue,
  path: JsonPath,
  budget: EarlyBudget,
): Problem | undefined {
  if (budget.left <= 0) return undefined;
  if (findReferences(value).length === 0) return hopelessAt(tool, path, value, budget);
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key;
    const problem = hopelessIn(tool, member, [...path, step], budget);
    if (problem) return problem;
  }
  return undefined;
}

/** The arguments of a call that may refer to another, as the syntax gate reads them. */
function readArguments(run: Run, { call, tool, result }: PlannedCall): JsonValue | undefined {
  if (!tool || result || !call.raw.includes(REFERENCE_MARK)) return undefined;
  const checked: CheckedCall = { call, tool, value: null, repairs: [] };
  const verdict = syntaxGate.check(checked, { locale: run.locale, repair: run.deps.repair });
  if (!verdict.pass) return undefined;
  if (tool.definition.thought) takeThought(checked);
  return checked.value;
}

/** Answers a call that cannot run because of what it refers to. */
export function refuseByPlan(run: Run, entry: PlannedCall, fault: PlanFault): void {
  const feedback = explainPlan(fault, run.locale);
  refuse(run, entry, { code: codeOf(fault), problem: problemOf(fault), feedback });
}

/** What contradicts the tools' own word: the place that is referred to in `output`, the parameter in `parameters`. */
function promised(
  run: Run,
  { tool }: PlannedCall,
  references: readonly PlacedReference[],
): PlanFault | undefined {
  for (const { reference, at, whole } of references) {
    const output = run.offer.gateway.get(reference.name)?.output;
    if (!output || reference.path[0] !== "data") continue;
    const place = output.at(reference.path.slice(1));
    if ("missing" in place) {
      return { kind: "nowhere", reference, ...place, before: ["data", ...place.before] };
    }
    const parameter = whole && tool ? parameterShape(tool)?.at(at) : undefined;
    if (!parameter || "missing" in parameter || canBecome(place.types, parameter.types)) continue;
    return { kind: "type", reference, at, gives: typesText(place.types), takes: typesText(parameter.types) };
  }
  return undefined;
}

const shapes = new WeakMap<RegisteredTool, SchemaShape>();

/** What a tool's parameters may be; made when it is first asked for. */
export function parameterShape(tool: RegisteredTool): SchemaShape | undefined {
  const { parameters } = tool.definition;
  if (!parameters) return undefined;
  const shape = shapes.get(tool) ?? new SchemaShape(parameters);
  shapes.set(tool, shape);
  return shape;
}
