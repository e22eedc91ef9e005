import { inPlace } from "./json-types.ts";
import type { EffectiveSchema, Schema, SchemaNode } from "./schema-node.ts";
import type { FaultList } from "./schema-rejected.ts";

/** How many subschemas may judge one and the same value, each counted as often as it is reached. */
const MAX_WEIGHT = 5_000;
/** How long a chain of references may be that all judge the same value. */
const MAX_CHAIN = 64;
/** From this weight on, what is applied to many values is counted each time. */
const HEAVY = 16;

/** Keyword of our own in a compiled schema: what one evaluation costs. */
export const COST_KEYWORD = "toolweirCost";

/** Keywords whose subschemas are applied once for each element or member. */
const REPEATED = [
  "items",
  "additionalItems",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
] as const;

/**
 * Bounds what validating one value can cost, and writes that cost where it can add up: at every target of a reference
 * and at heavy subschemas that are applied to each element. Lists a fault for references that never step into the
 * value, and for an expansion beyond the bound. To be called once for a schema.
 */
export function weighSchema(schema: EffectiveSchema, faults: FaultList): void {
  const weigher = new Weigher(schema, faults);
  for (const node of allNodes(schema)) {
    weigher.weigh(node, 0);
    if (!faults.isEmpty) return;
  }
  for (const target of schema.targets.values()) weigher.mark(target, 0);
  for (const node of allNodes(schema)) {
    for (const child of repeatedChildren(node)) weigher.mark(child, HEAVY);
  }
}

/** Every subschema that is an object, the targets and their parts included. */
export function allNodes({ root, targets }: EffectiveSchema): SchemaNode[] {
  const nodes: SchemaNode[] = [];
  const stack: unknown[] = [root, ...targets.values()];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (Array.isArray(next)) stack.push(...next.filter((item) => typeof item === "object"));
    else if (typeof next === "object" && next !== null) {
      nodes.push(next as SchemaNode);
      stack.push(...subschemas(next as SchemaNode));
    }
  }
  return nodes;
}

function subschemas(node: SchemaNode): Schema[] {
  const maps = [node.properties, node.patternProperties].flatMap((map) => Object.values(map ?? {}));
  const items = node.prefixItems ?? [];
  return [...inPlace(node, NO_TARGETS), ...maps, ...items, ...repeatedChildren(node)].filter(
    (child) => typeof child === "object",
  );
}

const NO_TARGETS: ReadonlyMap<string, Schema> = new Map();

function repeatedChildren(node: SchemaNode): Schema[] {
  const single = REPEATED.flatMap((keyword): Schema[] => {
    const child = node[keyword] as Schema | Schema[] | undefined;
    return child === undefined ? [] : [child].flat();
  });
  return [...single, ...Object.values(node.patternProperties ?? {})];
}

class Weigher {
  readonly #schema: EffectiveSchema;
  readonly #faults: FaultList;
  readonly #weights = new Map<SchemaNode, number>();
  readonly #open = new Set<SchemaNode>();

  constructor(schema: EffectiveSchema, faults: FaultList) {
    this.#schema = schema;
    this.#faults = faults;
  }

  weigh(schema: Schema, chain: number): number {
    if (typeof schema === "boolean") return 1;
    const known = this.#weights.get(schema);
    if (known !== undefined) return known;
    if (this.#open.has(schema))
      return this.#fail(schema, "ref_cycle", "holds references that lead in a circle on the same value.");
    if (chain > MAX_CHAIN)
      return this.#fail(schema, "too_deep", `holds a chain of more than ${MAX_CHAIN} references.`);
    this.#open.add(schema);
    let weight = 1;
    for (const child of inPlace(schema, this.#schema.targets)) {
      weight += this.weigh(child, chain + 1);
      if (!this.#faults.isEmpty) return weight;
    }
    this.#open.delete(schema);
    if (weight > MAX_WEIGHT)
      this.#fail(schema, "expansion_too_large", `applies more than ${MAX_WEIGHT} subschemas to one value.`);
    this.#weights.set(schema, weight);
    return weight;
  }

  mark(schema: Schema, above: number): void {
    if (typeof schema === "boolean") return;
    const weight = this.weigh(schema, 0);
    if (weight > above) schema[COST_KEYWORD] = weight;
  }

  #fail(node: SchemaNode, reason: "ref_cycle" | "too_deep" | "expansion_too_large", message: string): number {
    this.#faults.add(this.#schema.pointers.get(node) ?? "", reason, message);
    return 1;
  }
}
