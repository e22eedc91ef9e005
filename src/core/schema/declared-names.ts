import { inPlace } from "./json-types.ts";
import type { EffectiveSchema, Schema, SchemaNode } from "./schema-node.ts";

/** The member names that a schema declares, itself and in all that judges the same value. */
export function declaredNames(root: SchemaNode, targets: EffectiveSchema["targets"]): string[] {
  return partsOf(root, targets).flatMap(({ properties }) => Object.keys(properties ?? {}));
}

/** The schema and all that judges the same value beside it, except for what must not hold. */
export function partsOf(root: SchemaNode, targets: EffectiveSchema["targets"]): SchemaNode[] {
  const found = new Set<SchemaNode>();
  const stack: Schema[] = [root];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === "boolean" || found.has(next)) continue;
    found.add(next);
    const { not } = next;
    stack.push(...inPlace(next, targets).filter((part) => part !== not));
  }
  return [...found];
}
