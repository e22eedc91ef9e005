import type { JsonValue } from "../json/value.ts";
import { type EffectiveSchema, inPlaceChildren, type Schema, type SchemaNode } from "./schema-node.ts";

/** A set of JSON types, one bit each; `number` in a schema means both kinds of numbers. */
export type TypeSet = number;

export const NULL = 1;
export const BOOLEAN = 2;
export const INTEGER = 4;
export const FRACTION = 8;
export const STRING = 16;
export const ARRAY = 32;
export const OBJECT = 64;
export const EVERY_TYPE = 127;

const BITS: Readonly<Record<string, TypeSet>> = {
  object: OBJECT,
  array: ARRAY,
  string: STRING,
  number: INTEGER | FRACTION,
  integer: INTEGER,
  boolean: BOOLEAN,
  null: NULL,
};

/** The type of a value. An integral number is an integer, however it was written (JSON Schema core 4.2.3). */
export function typeOf(value: JsonValue): TypeSet {
  switch (typeof value) {
    case "string":
      return STRING;
    case "number":
      return Number.isInteger(value) ? INTEGER : FRACTION;
    case "bigint":
      return INTEGER;
    case "boolean":
      return BOOLEAN;
    default:
      if (value === null) return NULL;
      return Array.isArray(value) ? ARRAY : OBJECT;
  }
}

/** The set that a `type` keyword means. */
export function typeSet(names: readonly string[]): TypeSet {
  return names.reduce((set, name) => set | (BITS[name] ?? 0), 0);
}

/** The names in a set, in a fixed order, `integer` only where fractions are not in it. */
export function typeNames(set: TypeSet): string[] {
  return Object.keys(BITS).filter((name) => {
    const bits = BITS[name] as TypeSet;
    return (set & bits) === bits && !(name === "integer" && set & FRACTION);
  });
}

/** Which types each part of a schema lets through, as far as `type`, `enum`, `const` and their combinations tell. */
export class AcceptedTypes {
  readonly #targets: EffectiveSchema["targets"];
  readonly #known = new WeakMap<SchemaNode, TypeSet>();

  constructor(targets: EffectiveSchema["targets"]) {
    this.#targets = targets;
  }

  /** What the schema lets through. References in it must not lead back to it without a step into the value. */
  of(schema: Schema): TypeSet {
    if (typeof schema === "boolean") return schema ? EVERY_TYPE : 0;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    const types = this.#compute(schema);
    this.#known.set(schema, types);
    return types;
  }

  /** What all the schemas let through. */
  ofAll(schemas: readonly Schema[]): TypeSet {
    return schemas.reduce<TypeSet>((set, schema) => set & this.of(schema), EVERY_TYPE);
  }

  #compute(node: SchemaNode): TypeSet {
    let set = node.type === undefined ? EVERY_TYPE : typeSet(node.type);
    if (node.enum !== undefined) set &= node.enum.reduce<TypeSet>((types, value) => types | typeOf(value), 0);
    if (node.const !== undefined) set &= typeOf(node.const);
    if (node.$ref !== undefined) set &= this.of(this.#targets.get(node.$ref) ?? true);
    set &= this.ofAll(node.allOf ?? []);
    for (const branches of [node.anyOf, node.oneOf]) {
      if (branches !== undefined)
        set &= branches.reduce<TypeSet>((types, branch) => types | this.of(branch), 0);
    }
    return set;
  }
}

/** Everything that judges the same value as `node`, the target of its `$ref` included. */
export function inPlace(node: SchemaNode, targets: EffectiveSchema["targets"]): Schema[] {
  const target = node.$ref === undefined ? undefined : targets.get(node.$ref);
  return target === undefined ? inPlaceChildren(node) : [target, ...inPlaceChildren(node)];
}
