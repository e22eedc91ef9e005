import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { checkAgainstMetaSchema, type Dialect, dialectsOf } from "./ajv-dialects.ts";
import { CheckState } from "./check-state.ts";
import { closeRoot, NO_PARAMETERS } from "./close-root.ts";
import { CompiledSchema } from "./compiled-schema.ts";
import { buildEffectiveSchema } from "./effective-schema.ts";
import { measure } from "./measure.ts";
import { Patterns } from "./pattern.ts";
import type { EffectiveSchema } from "./schema-node.ts";
import { FaultList } from "./schema-rejected.ts";
import { orderTargets } from "./target-order.ts";
import { walkSchema } from "./walk.ts";
import { weighSchema } from "./weigh.ts";

/** Characters of a schema; it is sent to the model in each round. */
const MAX_LENGTH = 65_536;
/** Beyond this nobody lists the other faults any more. */
const MAX_READABLE_LENGTH = 1_048_576;
const MAX_DEPTH = 64;

/**
 * Compiles the JSON Schema of a tool's parameters; `undefined` means a tool without parameters.
 *
 * 1. The dialect is that of `$schema`: draft-07, 2019-09 or 2020-12. Without one it is 2020-12, or draft-07 for a document
 *    that only draft-07 allows.
 * 2. Unknown keywords and unknown formats are annotations.
 * 3. The root describes an object. Unknown parameters are forbidden unless it says otherwise: see `closeRoot`.
 * 4. Time and memory are bounded, here and in every check, whatever the schema says: the document is bounded before it
 *    is compiled, references stay inside it, patterns run in linear time.
 *
 * Throws `SchemaRejected` with every fault found.
 */
export function compileSchema(document: JsonObject | undefined): CompiledSchema {
  const state = new CheckState();
  const patterns = new Patterns(state);
  if (document === undefined)
    return new CompiledSchema(NO_PARAMETERS, { dialect: "2020-12", state, patterns });
  const { schema, dialect } = prepareSchema(document, patterns);
  const faults = new FaultList();
  const closed = closeRoot(schema, faults);
  faults.check();
  return new CompiledSchema(closed, { dialect, state, patterns });
}

/** A schema that is safe to compile, with the dialect to compile it in. */
export interface PreparedSchema {
  readonly schema: EffectiveSchema;
  readonly dialect: Dialect;
}

/** All that `compileSchema` does for any schema, before it looks at the root as tool arguments. Throws `SchemaRejected`. */
export function prepareSchema(document: JsonObject, patterns: Patterns): PreparedSchema {
  const faults = new FaultList();
  // The type says so, but the document comes from outside.
  if (!isObject(document))
    faults.add("", "schema_invalid", "must be an object; leave parameters out for a tool without any.");
  faults.check();
  checkSize(document, faults);
  const { refs } = walkSchema(document, faults, patterns);
  const dialects = dialectsOf(document, faults);
  faults.check();
  const dialect = chooseDialect(withoutBigints(document) as JsonObject, dialects, faults);
  faults.check();
  const built = buildEffectiveSchema(document, refs);
  const schema = { ...built, targets: orderTargets(built.targets, faults) };
  weighSchema(schema, faults);
  faults.check();
  return { schema, dialect };
}

function checkSize(document: JsonObject, faults: FaultList): void {
  const { depth, length, hasProtoKey } = measure(document, MAX_DEPTH, MAX_READABLE_LENGTH);
  if (hasProtoKey) faults.add("", "name_not_allowed", "holds the name __proto__.");
  if (length > MAX_LENGTH) faults.add("", "too_large", `is longer than ${MAX_LENGTH} characters.`);
  if (depth > MAX_DEPTH) faults.add("", "too_deep", `is nested deeper than ${MAX_DEPTH} levels.`);
  // What follows may recurse, and read all of it.
  if (depth > MAX_DEPTH || length > MAX_READABLE_LENGTH) faults.check();
}

function chooseDialect(document: JsonObject, dialects: readonly Dialect[], faults: FaultList): Dialect {
  const lists = dialects.map((dialect) => {
    const list = new FaultList();
    checkAgainstMetaSchema(document, dialect, list);
    return { dialect, list };
  });
  const fitting = lists.find(({ list }) => list.isEmpty);
  for (const fault of fitting === undefined ? (lists[0]?.list.all ?? []) : []) {
    faults.add(fault.path, fault.reason, fault.message);
  }
  return fitting?.dialect ?? "2020-12";
}

function withoutBigints(value: JsonValue): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutBigints);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutBigints(member)]));
}
