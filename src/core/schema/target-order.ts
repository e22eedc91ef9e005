import { childNodes, type EffectiveSchema, type Schema } from "./schema-node.ts";
import type { FaultList } from "./schema-rejected.ts";

/** Subschemas inside each other that a compiler may have to enter at once; its stack holds more than twice as many. */
const MAX_RECURSION = 300;

interface Target {
  readonly schema: Schema;
  /** Names of the targets it refers to. */
  readonly refs: ReadonlySet<string>;
  /** Subschemas inside each other in it. */
  readonly depth: number;
}

/**
 * The targets in an order to compile them: each behind those it refers to, except for circles, so that no compiler has to go
 * through a chain of references at once. Lists a fault if the targets that stand in circles are too deep together.
 */
export function orderTargets(targets: EffectiveSchema["targets"], faults: FaultList): Map<string, Schema> {
  const all = new Map([...targets].map(([name, schema]) => [name, describe(schema)]));
  const order = new Map<string, Schema>();
  const entered = new Set<string>();
  for (const name of all.keys()) append(name, all, entered, order);
  const depths = [...all].map(([name, { depth }]) => (reaches(name, all) ? depth : 0));
  if (depths.reduce((sum, depth) => sum + depth, 0) > MAX_RECURSION) {
    faults.add("", "too_deep", "holds circles of references through too many definitions.");
  }
  return order;
}

function describe(schema: Schema): Target {
  const refs = new Set<string>();
  const stack: [Schema, number][] = [[schema, 1]];
  let depth = 1;
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, level] = next;
    depth = Math.max(depth, level);
    if (typeof node === "boolean") continue;
    if (node.$ref !== undefined) refs.add(node.$ref);
    for (const child of childNodes(node)) stack.push([child, level + 1]);
  }
  return { schema, refs, depth };
}

function append(
  name: string,
  all: ReadonlyMap<string, Target>,
  entered: Set<string>,
  order: Map<string, Schema>,
): void {
  const target = all.get(name);
  if (target === undefined || entered.has(name)) return;
  entered.add(name);
  for (const ref of target.refs) append(ref, all, entered, order);
  order.set(name, target.schema);
}

/** Whether references lead from a target back to itself. */
function reaches(name: string, all: ReadonlyMap<string, Target>): boolean {
  const reached = new Set<string>();
  const stack = [...(all.get(name)?.refs ?? [])];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    stack.push(...(all.get(next)?.refs ?? []));
  }
  return reached.has(name);
}
