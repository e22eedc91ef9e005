import type { JsonObject, JsonPath } from "../json/value.ts";
import { CheckState } from "./check-state.ts";
import { elementSchemas, type Matches, memberSchemas } from "./child-schemas.ts";
import { prepareSchema } from "./compile-schema.ts";
import {
  AcceptedTypes,
  ARRAY,
  EVERY_TYPE,
  inPlace,
  NULL,
  OBJECT,
  STRING,
  type TypeSet,
  typeNames,
} from "./json-types.ts";
import { Patterns } from "./pattern.ts";
import type { EffectiveSchema, Schema, SchemaNode } from "./schema-node.ts";

/** What stands at a place: the types it may have, or where the way to it ends and which members are there instead. */
export type Place =
  | { readonly types: TypeSet }
  | { readonly missing: string | number; readonly before: JsonPath; readonly names: readonly string[] };

/**
 * What a schema says about places inside the values that it describes, without a value to judge.
 *
 * 1. A place that some branch of the schema allows is there, with every type that some branch allows.
 * 2. A member that an object's `properties` do not name is missing, unless the schema says what other members are like: who writes
 *    down what a tool returns names what can be relied on.
 */
export class SchemaShape {
  readonly #schema: EffectiveSchema;
  readonly #types: AcceptedTypes;
  readonly #matches: Matches;

  /** Throws `SchemaRejected`, as `compileSchema` does for the same document. */
  constructor(document: JsonObject) {
    const state = new CheckState();
    const patterns = new Patterns(state);
    this.#schema = prepareSchema(document, patterns).schema;
    this.#types = new AcceptedTypes(this.#schema.targets);
    this.#matches = (source, key) => {
      state.begin();
      return patterns.get(source).test(key);
    };
  }

  /** What is at a path from the root. */
  at(path: JsonPath): Place {
    let here: readonly Schema[] = [this.#schema.root];
    for (const [depth, step] of path.entries()) {
      const nodes = this.#judging(here);
      const next = typeof step === "string" ? this.#members(nodes, step) : elementSchemas(nodes, step);
      const possible = next.filter((schema) => schema !== false);
      const isKnown = typeof step === "string" ? isNamed(nodes) : next.length > 0;
      if (possible.length === 0 && (isKnown || !this.#allows(here, step))) {
        return { missing: step, before: path.slice(0, depth), names: namesOf(nodes) };
      }
      here = possible.length === 0 ? [true] : possible;
    }
    return { types: this.#typesOf(here) };
  }

  #members(nodes: readonly SchemaNode[], key: string): Schema[] {
    return nodes.flatMap((node) => memberSchemas([node], key, this.#matches));
  }

  /** Whether something with members, or elements, may stand here at all. */
  #allows(here: readonly Schema[], step: string | number): boolean {
    return (this.#typesOf(here) & (typeof step === "string" ? OBJECT : ARRAY)) !== 0;
  }

  #typesOf(here: readonly Schema[]): TypeSet {
    return here.reduce<TypeSet>((set, schema) => set | this.#types.of(schema), 0);
  }

  /** Every node that may judge the same value. */
  #judging(here: readonly Schema[]): SchemaNode[] {
    const nodes = new Set<SchemaNode>();
    const stack = [...here];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (typeof next !== "object" || nodes.has(next)) continue;
      nodes.add(next);
      stack.push(...inPlace(next, this.#schema.targets));
    }
    return [...nodes];
  }
}

/**
 * Whether a value of one of the first types can be one of the second as the gates see it: the same, or after a coercion. Errs on
 * the side of yes.
 */
export function canBecome(from: TypeSet, to: TypeSet): boolean {
  return (from & (to | STRING | NULL)) !== 0 || (to & ARRAY) !== 0;
}

/** Types in words for a model, `anything` for all of them. */
export function typesText(types: TypeSet): string {
  return types === EVERY_TYPE ? "anything" : typeNames(types).join(" or ");
}

function isNamed(nodes: readonly SchemaNode[]): boolean {
  return nodes.some(({ properties }) => properties !== undefined && Object.keys(properties).length > 0);
}

function namesOf(nodes: readonly SchemaNode[]): string[] {
  return [...new Set(nodes.flatMap(({ properties }) => Object.keys(properties ?? {})))];
}
