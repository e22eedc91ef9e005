import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { step } from "./pointer.ts";
import type { RefTarget } from "./resolve-ref.ts";
import {
  type EffectiveSchema,
  KEYWORDS,
  type KeywordKind,
  type Schema,
  type SchemaNode,
} from "./schema-node.ts";

/**
 * Makes of a document the schema that is compiled.
 *
 * 1. It accepts the same values; annotations and unknown keywords are gone, so nothing in them can mislead a compiler.
 * 2. Every place that a `$ref` leads to is a target of its own, built once; references name targets.
 * 3. OpenAPI's `nullable: true` beside a `type` adds `null` to it.
 * 4. The document is not changed, nor is any part of it shared, except for the values in `enum` and `const`.
 *
 * The document must be valid against its meta-schema, and `refs` hold every `$ref` in it.
 */
export function buildEffectiveSchema(
  document: JsonObject,
  refs: ReadonlyMap<string, RefTarget>,
): EffectiveSchema {
  const builder = new Builder(refs);
  const root = builder.build(document, "");
  return {
    root: typeof root === "boolean" ? {} : root,
    targets: builder.targets(),
    pointers: builder.pointers,
  };
}

class Builder {
  readonly #refs: ReadonlyMap<string, RefTarget>;
  /** Pointers of the places that are referred to, with the names that stand for them. */
  readonly #names = new Map<string, string>();
  readonly pointers = new Map<SchemaNode, string>();

  constructor(refs: ReadonlyMap<string, RefTarget>) {
    this.#refs = refs;
    for (const { pointer } of refs.values()) {
      if (!this.#names.has(pointer)) this.#names.set(pointer, `target-${this.#names.size}`);
    }
  }

  targets(): Map<string, Schema> {
    const targets = new Map<string, Schema>();
    for (const { pointer, value } of this.#refs.values()) {
      const name = this.#names.get(pointer);
      if (name !== undefined && !targets.has(name)) targets.set(name, this.#copy(value, pointer));
    }
    return targets;
  }

  /** The subschema at `pointer`, or a reference if it is a target. */
  build(value: JsonValue, pointer: string): Schema {
    const name = this.#names.get(pointer);
    return name === undefined ? this.#copy(value, pointer) : { $ref: name };
  }

  #copy(value: JsonValue, pointer: string): Schema {
    if (!isObject(value)) return value === true;
    const node: SchemaNode = {};
    this.pointers.set(node, pointer);
    for (const [keyword, member] of Object.entries(value)) {
      const kind = KEYWORDS.get(keyword);
      if (kind !== undefined && kind !== "definitions") {
        node[keyword] = this.#keyword(member, kind, step(pointer, keyword));
      }
    }
    const ref = typeof value["$ref"] === "string" ? this.#refs.get(value["$ref"]) : undefined;
    const name = ref && this.#names.get(ref.pointer);
    if (name !== undefined) node.$ref = name;
    if (value["type"] !== undefined) node.type = typesOf(value);
    return node;
  }

  #keyword(value: JsonValue, kind: KeywordKind, pointer: string): unknown {
    if (kind === "value" || typeof value !== "object" || value === null) {
      return kind === "value" ? value : this.build(value, pointer);
    }
    if (Array.isArray(value)) return value.map((item, at) => this.build(item, step(pointer, at)));
    if (kind === "one" || kind === "one or list") return this.build(value, pointer);
    const entries = Object.entries(value).map(([key, child]) => {
      // `dependencies` also holds lists of names.
      return [key, Array.isArray(child) ? child : this.build(child, step(pointer, key))];
    });
    return Object.fromEntries(entries);
  }
}

function typesOf(node: JsonObject): string[] {
  const { type, nullable } = node;
  const names = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
  return nullable === true && !names.includes("null") ? [...names, "null"] : names;
}
