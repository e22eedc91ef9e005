import { isObject, type JsonObject, type JsonValue } from "./json/value.ts";
import { type RefTarget, resolveRef } from "./schema/resolve-ref.ts";
import { type LintNote, note } from "./tool-lint-note.ts";
import { wordsOf } from "./tool-lint-words.ts";

/** Levels of named parameters, the top level counted, that a model fills in reliably. */
const MAX_LEVELS = 3;
const NO_ANCHORS: ReadonlyMap<string, RefTarget> = new Map();
/** Keywords with one schema, and with several, for the same value or for its elements. */
const ONE = ["items", "additionalProperties", "then", "else"];
const MANY = ["allOf", "anyOf", "oneOf", "prefixItems"];
/** Subschemas that are looked at; references can multiply. */
const MAX_VISITS = 2_000;

/** Where a schema stands, and the names of the parameters that lead to it. */
interface Place {
  schema: JsonValue;
  path: string;
  names: readonly string[];
}

/** The first parameter below the third level, also where references lead to it. */
export function lintNesting(root: JsonObject): LintNote[] {
  const waiting: Place[] = [{ schema: root, path: "parameters", names: [] }];
  for (let visits = 0; waiting.length > 0 && visits < MAX_VISITS; visits++) {
    const place = waiting.shift();
    if (place && place.names.length > MAX_LEVELS) return [deepNote(place)];
    if (place) waiting.push(...insideOf(place, root));
  }
  return [];
}

function deepNote({ path, names }: Place): LintNote {
  const message = `Models lose track of what belongs where below ${MAX_LEVELS} levels.`;
  const parent = names.slice(0, MAX_LEVELS - 1).join(".");
  const flat = names
    .slice(MAX_LEVELS - 1)
    .flatMap(wordsOf)
    .join("_");
  return note("nesting_deep", path, message, `"${flat}" directly in "${parent}"`);
}

/** The schemas one step further. They come in the order of their levels, so the first that is too deep is the nearest. */
function insideOf({ schema, path, names }: Place, root: JsonObject): Place[] {
  if (!isObject(schema)) return [];
  const { $ref: ref, properties } = schema;
  const target = typeof ref === "string" ? resolveRef(root, NO_ANCHORS, ref) : undefined;
  const referred = target === undefined || target === "not local" ? [] : [target.value];
  return [
    ...referred.map((value): Place => ({ schema: value, path: `${path}.$ref`, names })),
    ...ONE.filter((keyword) => keyword in schema).map((keyword) => ({
      schema: schema[keyword] ?? null,
      path: `${path}.${keyword}`,
      names,
    })),
    ...MANY.flatMap((keyword) =>
      entriesOf(schema[keyword]).map(([at, value]) => ({
        schema: value,
        path: `${path}.${keyword}.${at}`,
        names,
      })),
    ),
    ...entriesOf(properties)
      .filter(([, value]) => value !== false)
      .map(([name, value]) => ({
        schema: value,
        path: `${path}.properties.${name}`,
        names: [...names, name],
      })),
  ];
}

function entriesOf(value: JsonValue | undefined): [string, JsonValue][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}
