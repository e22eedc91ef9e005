import type { JsonValue } from "../json/value.ts";

/** A subschema as it is compiled: only keywords that decide something, `type` always a list, every `$ref` the name of a target. */
export interface SchemaNode {
  $ref?: string;
  type?: readonly string[];
  enum?: readonly JsonValue[];
  const?: JsonValue;
  required?: readonly string[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema;
  unevaluatedProperties?: Schema;
  prefixItems?: readonly Schema[];
  items?: Schema | readonly Schema[];
  additionalItems?: Schema;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  if?: Schema;
  then?: Schema;
  else?: Schema;
  dependentSchemas?: Record<string, Schema>;
  dependencies?: Record<string, Schema | readonly string[]>;
  [keyword: string]: unknown;
}

/** A subschema; `true` takes everything, `false` nothing. */
export type Schema = SchemaNode | boolean;

/** A schema ready to compile. Targets may refer to each other in cycles. */
export interface EffectiveSchema {
  readonly root: SchemaNode;
  /** What a `$ref` means, by its text; in an order in which they can be compiled. */
  readonly targets: ReadonlyMap<string, Schema>;
  /** Where each subschema stands in the document, for faults. */
  readonly pointers: ReadonlyMap<SchemaNode, string>;
}

/** How the value of a keyword holds subschemas; `value` holds none. Keywords that are not here are annotations. */
export type KeywordKind = "one" | "list" | "one or list" | "map" | "dependencies" | "definitions" | "value";

/** The keywords of the drafts 07, 2019-09 and 2020-12 that decide whether a value is valid. */
export const KEYWORDS: ReadonlyMap<string, KeywordKind> = new Map([
  ...kind("one", "additionalItems additionalProperties contains else if not propertyNames then"),
  ...kind("one", "unevaluatedItems unevaluatedProperties"),
  ...kind("list", "allOf anyOf oneOf prefixItems"),
  ...kind("one or list", "items"),
  ...kind("map", "dependentSchemas patternProperties properties"),
  ...kind("dependencies", "dependencies"),
  ...kind("definitions", "$defs definitions"),
  ...kind("value", "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum"),
  ...kind(
    "value",
    "maxLength minLength pattern format maxItems minItems uniqueItems maxContains minContains",
  ),
  ...kind("value", "maxProperties minProperties required dependentRequired"),
]);

function kind(kind: KeywordKind, names: string): [string, KeywordKind][] {
  return names.split(" ").map((name) => [name, kind]);
}

/** The subschemas that judge the same value as the node itself, without what its `$ref` names. */
export function inPlaceChildren(node: SchemaNode): Schema[] {
  const { not, if: condition, then, else: otherwise } = node;
  const single = [not as Schema | undefined, condition, then, otherwise].filter(
    (child) => child !== undefined,
  );
  const lists = [node.allOf, node.anyOf, node.oneOf].flatMap((list) => list ?? []);
  const dependent = Object.values(node.dependencies ?? {}).filter((value) => !Array.isArray(value));
  return [...single, ...lists, ...Object.values(node.dependentSchemas ?? {}), ...(dependent as Schema[])];
}

/** The subschemas directly inside a node that are objects. */
export function childNodes(node: SchemaNode): SchemaNode[] {
  const children: unknown[] = [];
  for (const [keyword, kind] of KEYWORDS) {
    const value = node[keyword];
    if (kind === "value" || typeof value !== "object" || value === null) continue;
    if (kind === "one" || (kind === "one or list" && !Array.isArray(value))) children.push(value);
    else children.push(...Object.values(value));
  }
  return children.filter((child) => typeof child === "object" && !Array.isArray(child)) as SchemaNode[];
}

/** Every subschema that is an object, the targets and their parts included. */
export function allNodes({ root, targets }: EffectiveSchema): SchemaNode[] {
  const nodes: SchemaNode[] = [];
  const stack = [root, ...[...targets.values()].filter((target) => typeof target === "object")];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    nodes.push(next);
    stack.push(...childNodes(next));
  }
  return nodes;
}
