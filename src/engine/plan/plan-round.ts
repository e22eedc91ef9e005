import { spellingOf } from "../../core/json/spelling.ts";
import type { JsonObject, JsonPath, JsonValue } from "../../core/json/value.ts";
import { canBecome, SchemaShape, typesText } from "../../core/schema/schema-shape.ts";
import { type PlannedCall, refuse } from "../calls/planned-call.ts";
import { syntaxGate } from "../gates/syntax.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { Run } from "../run-state.ts";
import { type PlanStep, planCalls } from "./plan.ts";
import { codeOf, explainPlan, type PlanFault } from "./plan-fault.ts";
import { type Filled, fillIn, type PlacedReference, REFERENCE_MARK, type Reference } from "./references.ts";

/** Plans the calls of a round, and refuses those whose references cannot come to anything. */
export function planRound(run: Run, planned: readonly PlannedCall[]): PlanStep[] {
  if (!planned.some(({ call }) => call.raw.includes(REFERENCE_MARK))) return [];
  const calls = planned.map((entry) => ({ name: entry.call.name, args: readArguments(run, entry) }));
  const plan = planCalls(calls, (name) => run.offer.gateway.has(name));
  for (const [at, step] of plan.entries()) {
    const entry = planned[at] as PlannedCall;
    const needs = step.needs.map((needed) => planned[needed]?.call.id ?? "");
    if (needs.length > 0) entry.record.needs = needs;
    const fault = step.fault ?? promised(run, entry, step.references);
    if (fault && !entry.result) refuseByPlan(run, entry, fault);
  }
  return plan;
}

/** The arguments of a call that may refer to another, as the syntax gate reads them. */
function readArguments(run: Run, { call, tool, result }: PlannedCall): JsonValue | undefined {
  if (!tool || result || !call.raw.includes(REFERENCE_MARK)) return undefined;
  const checked = { call, tool, value: null, repairs: [] };
  const verdict = syntaxGate.check(checked, { locale: run.locale, repair: run.deps.repair });
  return verdict.pass ? checked.value : undefined;
}

/** Answers a call that cannot run because of what it refers to. */
export function refuseByPlan(run: Run, entry: PlannedCall, fault: PlanFault): void {
  const isDependency = fault.kind === "failed" || fault.kind === "waiting";
  const problem = isDependency ? "dependency" : `reference_${fault.kind}`;
  refuse(run, entry, { code: codeOf(fault), problem, feedback: explainPlan(fault, run.locale) });
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

/**
 * What the references of a call have come to: how to fill them in, or why that cannot be. A failed call stops the ones that refer to it
 * unless their tool is `partial_ok`.
 */
export function resolve(
  { tool }: PlannedCall,
  { references, needs }: PlanStep,
  planned: readonly PlannedCall[],
): { fill: (value: JsonValue) => JsonValue } | { fault: PlanFault } {
  const failed = needs.map((at) => planned[at]).find((needed) => needed && answerOf(needed) === undefined);
  if (failed?.result?.pending) return { fault: { kind: "waiting", name: failed.call.name } };
  if (failed && !tool?.definition.partial_ok) return { fault: { kind: "failed", name: failed.call.name } };
  const values = new Map<string, Filled>();
  for (const { reference } of references) {
    const found = lookUp(reference, planned);
    if (typeof found === "object" && "kind" in found) return { fault: found };
    values.set(reference.text, found);
  }
  // A reference that leads to no call of the message was refused before; what is not known here is text.
  return { fill: (value) => fillIn(value, ({ text }) => values.get(text) ?? { value: text }) };
}

/** The envelope that references walk; `undefined` if the call did not succeed. */
function answerOf(entry: PlannedCall): JsonObject | undefined {
  const message = (entry.twin ?? entry).result?.message;
  return message?.ok ? { success: true, data: message.data ?? null, error: null } : undefined;
}

function lookUp(reference: Reference, planned: readonly PlannedCall[]): Filled | PlanFault {
  const target = planned.filter(({ call }) => call.name === reference.name)[reference.index];
  const envelope = target && answerOf(target);
  if (!envelope) return "failed";
  let value: JsonValue = envelope;
  let spelling: string | undefined;
  for (const [depth, step] of reference.path.entries()) {
    if (!has(value, step)) return nowhere(reference, value, reference.path.slice(0, depth), step);
    spelling = spellingOf(value as JsonObject, step);
    value = (value as JsonObject)[step] as JsonValue;
  }
  return { value, spelling };
}

function has(value: JsonValue, step: string | number): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof step === "number"))
    return false;
  return Object.hasOwn(value, step);
}

function nowhere(
  reference: Reference,
  value: JsonValue,
  before: JsonPath,
  missing: string | number,
): PlanFault {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return { kind: "nowhere", reference, missing, before, names: isObject ? Object.keys(value) : [] };
}
