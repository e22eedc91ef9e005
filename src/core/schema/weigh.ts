import { inPlace } from "./json-types.ts";
import { allNodes, type EffectiveSchema, type Schema, type SchemaNode } from "./schema-node.ts";
import type { FaultList } from "./schema-rejected.ts";

/** How many subschemas may judge one and the same value, each counted as often as it is reached. */
const MAX_WEIGHT = 5_000;
/** How many subschemas may judge the same value inside each other, for example a chain of references. */
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
  // Targets first, in their order, so that the first one beyond the bounds is named.
  for (const node of [...schema.targets.values(), ...allNodes(schema)]) {
    weigher.weigh(node);
    if (!faults.isEmpty) return;
  }
  for (const target of schema.targets.values()) weigher.mark(target, 0);
  for (const node of allNodes(schema)) {
    for (const child of repeatedChildren(node)) weigher.mark(child, HEAVY);
  }
}

function repeatedChildren(node: SchemaNode): Schema[] {
  const single = REPEATED.flatMap((keyword): Schema[] => {
    const child = node[keyword] as Schema | Schema[] | undefined;
    return child === undefined ? [] : [child].flat();
  });
  return [...single, ...Object.values(node.patternProperties ?? {})];
}

/** What judging one value by a subschema takes: how many subschemas, and how many of them inside each other. */
interface Weight {
  readonly nodes: number;
  readonly depth: number;
}

const LIGHTEST: Weight = { nodes: 1, depth: 1 };

class Weigher {
  readonly #schema: EffectiveSchema;
  readonly #faults: FaultList;
  readonly #weights = new Map<SchemaNode, Weight>();
  readonly #open = new Set<SchemaNode>();

  constructor(schema: EffectiveSchema, faults: FaultList) {
    this.#schema = schema;
    this.#faults = faults;
  }

  weigh(schema: Schema): Weight {
    if (typeof schema === "boolean") return LIGHTEST;
    const known = this.#weights.get(schema);
    if (known !== undefined) return known;
    if (this.#open.has(schema))
      return this.#fail(schema, "ref_cycle", "leads in a circle of references on the same value.");
    this.#open.add(schema);
    const weight = this.#sum(schema);
    this.#open.delete(schema);
    this.#weights.set(schema, weight);
    if (weight.nodes > MAX_WEIGHT) {
      return this.#fail(
        schema,
        "expansion_too_large",
        `applies more than ${MAX_WEIGHT} subschemas to one value.`,
      );
    }
    if (weight.depth > MAX_CHAIN) {
      return this.#fail(
        schema,
        "too_deep",
        `applies more than ${MAX_CHAIN} subschemas inside each other to one value.`,
      );
    }
    return weight;
  }

  mark(schema: Schema, above: number): void {
    if (typeof schema === "boolean") return;
    const { nodes } = this.weigh(schema);
    if (nodes > above) schema[COST_KEYWORD] = nodes;
  }

  #sum(node: SchemaNode): Weight {
    let { nodes, depth } = LIGHTEST;
    for (const child of inPlace(node, this.#schema.targets)) {
      const weight = this.weigh(child);
      if (!this.#faults.isEmpty) return LIGHTEST;
      nodes += weight.nodes;
      depth = Math.max(depth, weight.depth + 1);
    }
    return { nodes, depth };
  }

  #fail(node: SchemaNode, reason: "ref_cycle" | "too_deep" | "expansion_too_large", message: string): Weight {
    this.#faults.add(this.#schema.pointers.get(node) ?? "", reason, message);
    return LIGHTEST;
  }
}
