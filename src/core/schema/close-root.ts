import { partsOf } from "./declared-names.ts";
import { AcceptedTypes, EVERY_TYPE, NULL, OBJECT } from "./json-types.ts";
import type { EffectiveSchema, Schema, SchemaNode } from "./schema-node.ts";
import type { FaultList } from "./schema-rejected.ts";

const NULL_OR_OBJECT = OBJECT | NULL;

/** A tool without a schema: no parameters. */
export const NO_PARAMETERS: EffectiveSchema = {
  root: { type: ["object"], properties: {}, additionalProperties: false },
  targets: new Map(),
  pointers: new Map(),
};

/**
 * Makes the root what tool arguments are, an object, and forbids unknown parameters unless the schema says otherwise:
 *
 * 1. A root that states `additionalProperties` or `unevaluatedProperties`, in itself or in any branch that judges the
 *    whole arguments, is left as it is.
 * 2. A root that declares no parameter at all (neither `properties` nor a branch that has them) is free-form.
 * 3. Else only declared names are parameters: those in `properties` and `required` of the root, of what its `$ref`
 *    names and of its `allOf`, `anyOf`, `oneOf`, `if`/`then`/`else` and dependent branches, and what matches `patternProperties`.
 *
 * Lists `root_not_object` for a root that takes, or only takes, anything else than an object.
 */
export function closeRoot(schema: EffectiveSchema, faults: FaultList): EffectiveSchema {
  const types = new AcceptedTypes(schema.targets).of(schema.root);
  const isObjectSchema =
    types === EVERY_TYPE || ((types & OBJECT) !== 0 && (types | NULL_OR_OBJECT) === NULL_OR_OBJECT);
  if (!isObjectSchema) {
    faults.add("", "root_not_object", "must be the schema of an object; write type: object.");
  }
  const parts = partsOf(schema.root, schema.targets);
  const root: SchemaNode = { ...schema.root, type: ["object"] };
  const isOpen = parts.some(
    (part) => part.additionalProperties !== undefined || part.unevaluatedProperties !== undefined,
  );
  if (isOpen || !parts.some((part) => part.properties !== undefined)) return { ...schema, root };
  const names = parts.flatMap((part) => [...Object.keys(part.properties ?? {}), ...(part.required ?? [])]);
  const patterns = parts.flatMap((part) => Object.keys(part.patternProperties ?? {}));
  root.properties = { ...takeAnything(names), ...root.properties };
  if (patterns.length > 0) root.patternProperties = { ...takeAnything(patterns), ...root.patternProperties };
  root.additionalProperties = false;
  return { ...schema, root };
}

function takeAnything(names: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, true]));
}
