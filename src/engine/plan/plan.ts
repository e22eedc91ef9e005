import type { JsonValue } from "../../core/json/value.ts";
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
 * 2. What has the form of a reference is one if it names a call of the message, or a tool that is offered, or begins at `data` as
 *    a reference does; anything else, such as the placeholders of a template, is text.
 * 3. A call with a fault has the first one only; calls that need it have none of their own for that.
 */
export function planCalls(calls: readonly PlanCall[], offered: (name: string) => boolean): PlanStep[] {
  const named = new Map<string, number[]>();
  for (const [at, { name }] of calls.entries()) named.set(name, [...(named.get(name) ?? []), at]);
  const found = calls.map(({ args }) =>
    (args === undefined ? [] : findReferences(args)).filter(({ reference }) =>
      isReference(reference, named, offered),
    ),
  );
  const targets = found.map((references) => references.map(({ reference }) => targetOf(reference, named)));
  return found.map((references, at) => ({
    references,
    needs: [...new Set(targets[at])]
      .filter((target) => target !== undefined && target < at)
      .sort(ascending) as number[],
    fault: faultOf(at, references, { calls, targets, named, offered }),
  }));
}

const ascending = (a = 0, b = 0) => a - b;

function isReference(
  { name, path }: Reference,
  named: ReadonlyMap<string, unknown>,
  offered: (name: string) => boolean,
): boolean {
  return named.has(name) || (ENVELOPE.has(path[0]) && (path[0] === "data" || offered(name)));
}

function targetOf({ name, index }: Reference, named: ReadonlyMap<string, number[]>): number | undefined {
  return named.get(name)?.[index];
}

interface Graph {
  calls: readonly PlanCall[];
  targets: readonly (readonly (number | undefined)[])[];
  named: ReadonlyMap<string, number[]>;
  offered: (name: string) => boolean;
}

function faultOf(at: number, references: readonly PlacedReference[], graph: Graph): PlanFault | undefined {
  const { calls, targets, named, offered } = graph;
  for (const [place, { reference }] of references.entries()) {
    const target = targets[at]?.[place];
    if (target === undefined) {
      const times = named.get(reference.name)?.length ?? 0;
      const earlier = calls.slice(0, at).map(({ name }) => name);
      return {
        kind: "unknown",
        reference,
        times,
        isTool: offered(reference.name),
        earlier: [...new Set(earlier)],
      };
    }
    const circle = circleFrom(at, target, targets);
    if (circle) return { kind: "cycle", reference, names: circle.map((one) => calls[one]?.name ?? "") };
    if (target > at) return { kind: "order", reference };
    if (!ENVELOPE.has(reference.path[0])) return { kind: "member", reference };
  }
  return undefined;
}

/** The way from `target` back to `at` along the references, with both ends; `undefined` if there is none. */
function circleFrom(at: number, target: number, targets: Graph["targets"]): number[] | undefined {
  const cameFrom = new Map<number, number>([[target, at]]);
  const queue = [target];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (next === at) return wayBack(at, cameFrom);
    for (const further of targets[next] ?? []) {
      if (further === undefined || cameFrom.has(further)) continue;
      cameFrom.set(further, next);
      queue.push(further);
    }
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
