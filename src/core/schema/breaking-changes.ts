import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { typeSet } from "./json-types.ts";

/** Something that calls made for an earlier schema may not fit any more. */
export interface BreakingChange {
  /** From the root of the schema, for example `properties.city.type`. */
  readonly path: string;
  /** What has changed, to be read behind the name of the place. */
  readonly change: string;
}

/** Changes that are listed. */
const MAX_CHANGES = 50;
const MAX_DEPTH = 32;

/**
 * What a new schema refuses that the old one took, as far as `properties`, `required`, `additionalProperties`, `items`, `type`, `enum`, `const`,
 * `pattern`, `format` and the bounds of numbers, texts and lists tell. References and combinations are compared as texts: any difference
 * in them is named.
 */
export function breakingChanges(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): BreakingChange[] {
  const changes: BreakingChange[] = [];
  compare(before ?? CLOSED, after ?? CLOSED, "", true, changes, 0);
  return changes.slice(0, MAX_CHANGES);
}

/** A tool without parameters takes none. */
const CLOSED: JsonObject = { type: "object", properties: {}, additionalProperties: false };

function compare(
  before: JsonObject,
  after: JsonObject,
  path: string,
  isRoot: boolean,
  changes: BreakingChange[],
  depth: number,
): void {
  if (depth > MAX_DEPTH || changes.length >= MAX_CHANGES || JSON.stringify(before) === JSON.stringify(after))
    return;
  const add = (keyword: string, change: string): void => {
    changes.push({ path: path === "" ? keyword : `${path}.${keyword}`, change });
  };
  compareTypes(before, after, add);
  compareValues(before, after, add);
  compareBounds(before, after, add);
  for (const keyword of WHOLE) {
    const isNew =
      after[keyword] !== undefined && JSON.stringify(after[keyword]) !== JSON.stringify(before[keyword]);
    if (isNew) add(keyword, "is new or another one");
  }
  compareRequired(before, after, add);
  compareMembers(membersOf(before, isRoot), membersOf(after, isRoot), path, changes, depth);
  const [itemsBefore, itemsAfter] = [before["items"], after["items"]];
  if (isObject(itemsAfter)) {
    compare(
      isObject(itemsBefore) ? itemsBefore : {},
      itemsAfter,
      under(path, "items"),
      false,
      changes,
      depth + 1,
    );
  }
}

type Add = (keyword: string, change: string) => void;

/** Keywords whose every difference may refuse something. */
const WHOLE = [
  "pattern",
  "format",
  "multipleOf",
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "prefixItems",
  "contains",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "unevaluatedProperties",
  "unevaluatedItems",
  "$defs",
  "definitions",
];

function compareTypes(before: JsonObject, after: JsonObject, add: Add): void {
  if (after["type"] === undefined) return;
  const was = before["type"] === undefined ? undefined : typeSet(namesIn(before["type"]));
  const is = typeSet(namesIn(after["type"]));
  if (was === undefined || (was & ~is) !== 0)
    add("type", `takes only ${namesIn(after["type"]).join(" or ")} now`);
}

const namesIn = (type: JsonValue): string[] => (Array.isArray(type) ? type : [type]).map(String);

function compareValues(before: JsonObject, after: JsonObject, add: Add): void {
  if (after["const"] !== undefined && JSON.stringify(after["const"]) !== JSON.stringify(before["const"])) {
    add("const", "is new or another one");
  }
  const is = after["enum"];
  if (!Array.isArray(is)) return;
  const was = before["enum"] ?? (before["const"] === undefined ? undefined : [before["const"]]);
  if (!Array.isArray(was)) {
    add("enum", "takes only some values now");
    return;
  }
  const left = new Set(is.map((value) => JSON.stringify(value)));
  const gone = was.filter((value) => !left.has(JSON.stringify(value)));
  if (gone.length > 0)
    add(
      "enum",
      `does not take ${gone
        .map((value) => JSON.stringify(value))
        .slice(0, 5)
        .join(", ")} any more`,
    );
}

const LOWEST = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const HIGHEST = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

function compareBounds(before: JsonObject, after: JsonObject, add: Add): void {
  const number = (schema: JsonObject, keyword: string) =>
    typeof schema[keyword] === "number" ? schema[keyword] : undefined;
  for (const keyword of LOWEST) {
    const is = number(after, keyword);
    if (is !== undefined && is > (number(before, keyword) ?? Number.NEGATIVE_INFINITY))
      add(keyword, `is ${is} now`);
  }
  for (const keyword of HIGHEST) {
    const is = number(after, keyword);
    if (is !== undefined && is < (number(before, keyword) ?? Number.POSITIVE_INFINITY))
      add(keyword, `is ${is} now`);
  }
  if (after["uniqueItems"] === true && before["uniqueItems"] !== true) add("uniqueItems", "is new");
}

function compareRequired(before: JsonObject, after: JsonObject, add: Add): void {
  const was = new Set(listOf(before["required"]));
  const added = listOf(after["required"]).filter((name) => !was.has(name));
  if (added.length > 0)
    add("required", `asks for ${added.map((name) => `"${String(name)}"`).join(", ")} now`);
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

/** A schema's members: those that are named, and what the others must be. */
interface Members {
  named: ReadonlyMap<string, JsonValue>;
  others: JsonValue;
}

function membersOf(schema: JsonObject, isRoot: boolean): Members {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return { named: new Map(Object.entries(properties)), others: othersOf(schema, isRoot) };
}

function compareMembers(
  was: Members,
  is: Members,
  path: string,
  changes: BreakingChange[],
  depth: number,
): void {
  const place = (name: string) => `${under(path, "properties")}.${name}`;
  for (const [name, member] of was.named) {
    compareMember(member, is.named.get(name) ?? is.others, place(name), changes, depth);
  }
  for (const [name, member] of is.named) {
    // What was not named before was taken as the others were.
    if (!was.named.has(name)) compareMember(was.others, member, place(name), changes, depth);
  }
  const others = under(path, "additionalProperties");
  if (is.others === false && was.others !== false) {
    changes.push({ path: others, change: "refuses members that are not named now" });
  } else if (isObject(is.others)) compareMember(was.others, is.others, others, changes, depth);
}

/** What members that are not named must be. At the root they are forbidden unless the schema says otherwise. */
function othersOf(schema: JsonObject, isRoot: boolean): JsonValue {
  return schema["additionalProperties"] ?? !isRoot;
}

function compareMember(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  changes: BreakingChange[],
  depth: number,
): void {
  if (before === false || after === true || after === undefined) return;
  if (after === false) {
    changes.push({ path, change: "is gone" });
    return;
  }
  if (isObject(after)) compare(isObject(before) ? before : {}, after, path, false, changes, depth + 1);
}

const under = (path: string, step: string): string => (path === "" ? step : `${path}.${step}`);
