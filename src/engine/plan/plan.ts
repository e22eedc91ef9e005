import type { JsonValue } from "../../core/json/value.ts";
import type { Owner } from "../offer.ts";
import type { PlanFault } from "./plan-fault.ts";
import { findReferences, type PlacedReference, type Reference } from "./references.ts";

/** A call of a message as far as the plan needs it. */
export interface PlanCall {
  readonly name: string;
  /** `undefined` where the text is no JSON, or may hold no reference. */
  readonly args: JsonValue | undefined;
}

/** What a plan says of one call. */
export interface PlanStep {
  /** The references of the call that lead to other calls; others are text. */
  readonly references: readonly PlacedReference[];
  /** Positions of the calls it needs, ascending, without repetition. */
  readonly needs: readonly number[];
  /** Why it cannot run, if it cannot. */
  readonly fault: PlanFault | undefined;
}

/** Where a reference may begin. */
const ENVELOPE = new Set<string | number | undefined>(["data", "success", "error"]);

/**
 * Makes a graph of the calls of a message.
 *
 * 1. A reference names a call that stands earlier in the message; so the model's order is always one in which they can run.
 * 2. What has the form of a reference is one if it names a call of the message, or a tool that is offered or the client's, or begins at
 *    `data` as a reference does; anything else, such as the placeholders of a template, is text.
 * 3. A call with a fault has the first one only; calls that need it have none of their own for that.
 */
export function planCalls(calls: readonly PlanCall[], owner: (name: string) => Owner): PlanStep[] {
  const named = new Map<string, number[]>();
  for (const [at, { name }] of calls.entries()) named.set(name, [...(named.get(name) ?? []), at]);
  const found = calls.map(({ args }) =>
    (args === undefined ? [] : findReferences(args)).filter(({ reference }) =>
      isReference(reference, named, owner),
    ),
  );
  const targets = found.map((references) => targetsOf(references, named));
  return found.map((references, at) => ({
    references,
    needs: (targets[at] ?? []).filter((target) => target < at),
    fault: faultOf(at, references, { calls, targets, named, owner }),
  }));
}

function isReference(
  { name, path }: Reference,
  named: ReadonlyMap<string, unknown>,
  owner: (name: string) => Owner,
): boolean {
  if (named.has(name) || path[0] === "data") return true;
  return ENVELOPE.has(path[0]) && owner(name) !== "unknown";
}

function targetOf({ name, index }: Reference, named: ReadonlyMap<string, number[]>): number | undefined {
  return named.get(name)?.[index];
}

/** Each once, ascending: a call can hold many thousand references, and a message has few calls. */
function targetsOf(
  references: readonly PlacedReference[],
  named: ReadonlyMap<string, number[]>,
): readonly number[] {
  const targets = new Set(references.map(({ reference }) => targetOf(reference, named) ?? -1));
  targets.delete(-1);
  return [...targets].sort((a, b) => a - b);
}

interface Graph {
  calls: readonly PlanCall[];
  /** The calls that each call refers to, forwards too. */
  targets: readonly (readonly number[])[];
  named: ReadonlyMap<string, number[]>;
  owner: (name: string) => Owner;
}

function faultOf(at: number, references: readonly PlacedReference[], graph: Graph): PlanFault | undefined {
  const { calls, targets, named, owner } = graph;
  const circles = new Map(targets[at]?.map((target) => [target, circleFrom(at, target, targets)]));
  for (const { reference } of references) {
    const target = targetOf(reference, named);
    if (target === undefined) {
      const times = named.get(reference.name)?.length ?? 0;
      const earlier = [...new Set(calls.slice(0, at).map(({ name }) => name))];
      return { kind: "unknown", reference, times, owner: owner(reference.name), earlier };
    }
    const circle = circles.get(target);
    if (circle) return { kind: "cycle", reference, names: circle.map((one) => calls[one]?.name ?? "") };
    if (target > at) return { kind: "order", reference };
    if (!ENVELOPE.has(reference.path[0])) return { kind: "member", reference };
  }
  return undefined;
}

/** The way from `target` back to `at` along the references, with both ends; `undefined` if there is none. */
function circleFrom(at: number, target: number, targets: Graph["targets"]): number[] | undefined {
  const cameFrom = new Map<number, number>([[target, at]]);
  // It grows while it is read.
  for (const next of cameFrom.keys()) {
    if (next === at) return wayBack(at, cameFrom);
    for (const further of targets[next] ?? []) if (!cameFrom.has(further)) cameFrom.set(further, next);
  }
  return undefined;
}

function wayBack(at: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const way = [at];
  let step = cameFrom.get(at);
  while (step !== undefined && step !== at) {
    way.unshift(step);
    step = cameFrom.get(step);
  }
  return [at, ...way];
}
