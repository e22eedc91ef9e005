import type { Schema, SchemaNode } from "./schema-node.ts";

/** Whether a key matches a pattern of `patternProperties`. */
export type Matches = (pattern: string, key: string) => boolean;

/** What judges the member `key` of an object that all `nodes` judge. */
export function memberSchemas(nodes: readonly SchemaNode[], key: string, matches: Matches): Schema[] {
  return nodes.flatMap((node) => {
    const own =
      node.properties !== undefined && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
    const matching = Object.entries(node.patternProperties ?? {}).filter(([source]) => matches(source, key));
    const named = [...(own === undefined ? [] : [own]), ...matching.map(([, schema]) => schema)];
    if (named.length > 0) return named;
    return node.additionalProperties === undefined ? [] : [node.additionalProperties];
  });
}

/** What judges the element at `index` of an array that all `nodes` judge. */
export function elementSchemas(nodes: readonly SchemaNode[], index: number): Schema[] {
  return nodes.flatMap((node) => {
    const tuple = isList(node.items) ? node.items : (node.prefixItems ?? []);
    const rest = isList(node.items) ? node.additionalItems : node.items;
    const schema = index < tuple.length ? tuple[index] : (rest as Schema | undefined);
    return schema === undefined ? [] : [schema];
  });
}

function isList(items: Schema | readonly Schema[] | undefined): items is readonly Schema[] {
  return Array.isArray(items);
}
