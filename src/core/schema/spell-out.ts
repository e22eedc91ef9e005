import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { CheckState } from "./check-state.ts";
import { closeRoot, NO_PARAMETERS } from "./close-root.ts";
import { prepareSchema } from "./compile-schema.ts";
import { Patterns } from "./pattern.ts";
import { FaultList } from "./schema-rejected.ts";

/** Values in the tree, and references inside each other: small documents can mean endless ones. */
const MAX_VALUES = 20_000;
const MAX_OPEN = 16;

/** The tree would be larger than anybody writes. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/**
 * A tool's parameters as one tree that hides nothing: references replaced by what they name, annotations left out, the root closed as
 * `closeRoot` does. Only where a reference leads back into itself does it stay. For comparing schemas, not for compiling.
 * Throws `SchemaRejected` for what no tool may have, and `TooLarge`.
 */
export function spellOut(document: JsonObject | undefined): JsonObject {
  if (document === undefined) return NO_PARAMETERS.root as JsonObject;
  const { schema } = prepareSchema(document, new Patterns(new CheckState()));
  const { root, targets } = closeRoot(schema, new FaultList());
  return new Expansion(targets as ReadonlyMap<string, JsonValue>).of(root as JsonObject) as JsonObject;
}

class Expansion {
  readonly #targets: ReadonlyMap<string, JsonValue>;
  readonly #open = new Set<string>();
  #values = 0;

  constructor(targets: ReadonlyMap<string, JsonValue>) {
    this.#targets = targets;
  }

  of(value: JsonValue): JsonValue {
    if (++this.#values > MAX_VALUES) throw new TooLarge();
    if (Array.isArray(value)) return value.map((element) => this.of(element));
    if (!isObject(value)) return value;
    const { $ref: name, ...beside } = value;
    const target = typeof name === "string" ? this.#targets.get(name) : undefined;
    if (target === undefined || typeof name !== "string") return this.#members(value);
    if (this.#open.has(name)) return { ...this.#members(beside), $ref: this.#depthOf(name) };
    const named = this.#named(name, target);
    return Object.keys(beside).length === 0 ? named : { ...this.#members(beside), $ref: named };
  }

  #named(name: string, target: JsonValue): JsonValue {
    if (this.#open.size >= MAX_OPEN) throw new TooLarge();
    this.#open.add(name);
    const named = this.of(target);
    this.#open.delete(name);
    return named;
  }

  /** The names of targets follow their order in the document; how many references up one lies does not. */
  #depthOf(name: string): number {
    return this.#open.size - [...this.#open].indexOf(name);
  }

  #members(value: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.of(member)]));
  }
}
