import { isObject } from "../../adapter.ts";
import type { ParameterSchema } from "../reader.ts";

const MAX_DEPTH = 32;

/** What a JSON Schema says of the place that a value is meant for; as far as `$ref` stays in its own document. */
export class SchemaView {
  readonly #root: ParameterSchema;
  /** The schema itself, what it refers to and its alternatives. */
  readonly #parts: readonly ParameterSchema[];
  /** The types that are allowed; empty where the schema says nothing about it. */
  readonly types: ReadonlySet<string>;

  constructor(schema: unknown, root: ParameterSchema = isObject(schema) ? schema : {}) {
    this.#root = root;
    this.#parts = partsOf(schema, root, 0);
    this.types = new Set(this.#parts.flatMap(typesOf));
  }

  /** The names of the properties in the order in which they are declared. */
  get names(): string[] {
    return [...new Set(this.#parts.flatMap((part) => Object.keys(objectAt(part, "properties"))))];
  }

  get required(): string[] {
    const lists = this.#parts.map(({ required }) => (Array.isArray(required) ? required : []));
    return lists.flat().filter((name) => typeof name === "string");
  }

  /** The one string among the parameters that must be there, or among all where none must: what a plain text can only mean. */
  get onlyText(): string | undefined {
    const { required, names } = this;
    const candidates = required.length > 0 ? required : names;
    const texts = candidates.filter((name) => this.property(name).types.has("string"));
    return texts.length === 1 ? texts[0] : undefined;
  }

  has(name: string): boolean {
    return this.#parts.some((part) => Object.hasOwn(objectAt(part, "properties"), name));
  }

  property(name: string): SchemaView {
    const part = this.#parts.find((candidate) => Object.hasOwn(objectAt(candidate, "properties"), name));
    return new SchemaView(part && objectAt(part, "properties")[name], this.#root);
  }

  get items(): SchemaView {
    return new SchemaView(this.#parts.find(({ items }) => isObject(items))?.["items"], this.#root);
  }
}

function partsOf(schema: unknown, root: ParameterSchema, depth: number): ParameterSchema[] {
  if (!isObject(schema) || depth > MAX_DEPTH) return [];
  const { $ref, anyOf, oneOf, allOf } = schema;
  const others = [anyOf, oneOf, allOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  if (typeof $ref === "string") others.push(target(root, $ref));
  return [schema, ...others.flatMap((other) => partsOf(other, root, depth + 1))];
}

function target(root: ParameterSchema, ref: string): unknown {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let place: unknown = root;
  for (const token of ref.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
  }
  return place;
}

function typesOf(schema: ParameterSchema): string[] {
  const { type, nullable } = schema;
  const named = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
  if (named.length > 0) return nullable === true ? [...named, "null"] : named;
  const values = Array.isArray(schema["enum"])
    ? schema["enum"]
    : Object.hasOwn(schema, "const")
      ? [schema["const"]]
      : [];
  if (values.length > 0) return values.map(typeOf);
  if (isObject(schema["properties"])) return ["object"];
  return isObject(schema["items"]) ? ["array"] : [];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function objectAt(schema: ParameterSchema, key: string): Record<string, unknown> {
  const member = schema[key];
  return isObject(member) ? member : {};
}
