import { spellingOf } from "../../core/json/spelling.ts";
import type { JsonObject, JsonPath, JsonValue } from "../../core/json/value.ts";
import { MAX_ARGUMENTS, measure } from "../../core/schema/measure.ts";
import type { PlannedCall } from "../calls/planned-call.ts";
import type { PlanStep } from "./plan.ts";
import type { PlanFault } from "./plan-fault.ts";
import { type Filled, fillIn, type Reference } from "./references.ts";

/**
 * What the references of a call have come to: how to fill them in, or why that cannot be. A failed call stops the ones that refer to it
 * unless their tool is `partial_ok`; one that waits for a person stops them in any case.
 */
export function resolve(
  { tool }: PlannedCall,
  { references, needs }: PlanStep,
  planned: readonly PlannedCall[],
): { fill: (value: JsonValue) => JsonValue } | { fault: PlanFault } {
  const missing = missingOf(needs, planned);
  if (missing && !(missing.kind === "failed" && tool?.definition.partial_ok)) return { fault: missing };
  const values = new Map<string, { filled: Filled; length: number }>();
  let length = 0;
  for (const { reference } of references) {
    const known = values.get(reference.text) ?? sized(lookUp(reference, planned));
    if ("kind" in known) return { fault: known };
    values.set(reference.text, known);
    length += known.length;
    if (length > MAX_ARGUMENTS) return { fault: { kind: "size", reference, limit: MAX_ARGUMENTS } };
  }
  // A reference that leads to no call of the message was refused before; what is not known here is text.
  return { fill: (value) => fillIn(value, ({ text }) => values.get(text)?.filled ?? { value: text }) };
}

/** With the characters of its JSON text, exact up to what arguments may be. */
function sized(filled: Filled | PlanFault): { filled: Filled; length: number } | PlanFault {
  if (filled === "failed") return { filled, length: 0 };
  if ("kind" in filled) return filled;
  return { filled, length: measure(filled.value, Number.POSITIVE_INFINITY, MAX_ARGUMENTS).length };
}

/** Of the calls that brought nothing the one that the model is told of. */
function missingOf(needs: readonly number[], planned: readonly PlannedCall[]): PlanFault | undefined {
  const missing = needs.flatMap((at) => planned[at] ?? []).filter((needed) => !answerOf(needed));
  const waiting = missing.find((needed) => ran(needed).result?.pending);
  const untried = missing.find((needed) => ran(needed).record.outcome === "dry_run");
  const [first] = missing;
  if (waiting) return { kind: "waiting", name: waiting.call.name };
  if (untried) return { kind: "dry_run", name: untried.call.name };
  return first && { kind: "failed", name: first.call.name };
}

/** A call that is the same as another has that one's result. */
const ran = (entry: PlannedCall): PlannedCall => entry.twin ?? entry;

/** The envelope that references walk; `undefined` if the call brought nothing. */
function answerOf(entry: PlannedCall): JsonObject | undefined {
  const { record, result } = ran(entry);
  if (!result?.message.ok || record.outcome === "dry_run") return undefined;
  return { success: true, data: result.message.data ?? null, error: null };
}

/** The same of a call that failed, where a reference asks for just that. */
function failureOf(entry: PlannedCall, { path }: Reference): JsonObject | undefined {
  const { result } = ran(entry);
  if (!result || path[0] === "data") return undefined;
  const { error } = JSON.parse(result.message.content) as { error: JsonValue };
  return { success: false, data: null, error };
}

function lookUp(reference: Reference, planned: readonly PlannedCall[]): Filled | PlanFault {
  const target = planned.filter(({ call }) => call.name === reference.name)[reference.index];
  const envelope = target && (answerOf(target) ?? failureOf(target, reference));
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
