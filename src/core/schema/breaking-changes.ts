import { stringifyJson } from "../json/stringify.ts";
import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { typeSet } from "./json-types.ts";
import { SchemaRejected } from "./schema-rejected.ts";
import { spellOut, TooLarge } from "./spell-out.ts";

/** Something that calls made for an earlier schema may not fit any more. */
export interface BreakingChange {
  /** From the root of the schema, for example `properties.city.type`. */
  readonly path: string;
  /** What has changed, to be read behind the name of the place. */
  readonly change: string;
}

/** Changes that are listed. */
const MAX_CHANGES = 50;
const MAX_DEPTH = 64;

/**
 * What a new schema refuses that the old one took. References are followed and annotations do not count. Members, elements, types,
 * values and bounds are compared; of combinations and of what places depend on others, any difference is named.
 * Empty where one of the two is a schema that no tool may have.
 */
export function breakingChanges(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): BreakingChange[] {
  if (isSame(before, after)) return [];
  const changes: BreakingChange[] = [];
  try {
    compare(spellOut(before), spellOut(after), "", changes, 0);
  } catch (error) {
    if (error instanceof TooLarge) return [{ path: "", change: "is too large to be compared" }];
    if (!(error instanceof SchemaRejected)) throw error;
  }
  return changes.slice(0, MAX_CHANGES);
}

function compare(
  before: JsonObject,
  after: JsonObject,
  path: string,
  changes: BreakingChange[],
  depth: number,
): void {
  if (changes.length >= MAX_CHANGES || isSame(before, after)) return;
  if (depth > MAX_DEPTH) {
    changes.push({ path, change: "is another one" });
    return;
  }
  const add = (keyword: string, change: string): void => {
    changes.push({ path: under(path, keyword), change });
  };
  compareTypes(before, after, add);
  compareValues(before, after, add);
  compareBounds(before, after, add);
  compareWhole(before, after, add);
  compareRequired(before, after, add);
  const inside: Inside = (was, is, place) => compareMember(was, is, place, changes, depth);
  compareMembers(before, after, path, inside, add);
  compareElements(before, after, path, inside, add);
  compareReference(before["$ref"], after["$ref"], inside, under(path, "$ref"), add);
}

type Add = (keyword: string, change: string) => void;

/** Compares what judges one place inside; `undefined` takes everything. */
type Inside = (before: JsonValue | undefined, after: JsonValue | undefined, path: string) => void;

const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && stringifyJson(a) === stringifyJson(b));

/** Keywords that refuse something wherever they are new or differ. */
const REFUSING = ["pattern", "format", "multipleOf", "not", "propertyNames", "dependentRequired"];

/** Keywords that also refuse something where they are gone, since others say what is left over. */
const ENTWINED = [
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "then",
  "else",
  "prefixItems",
  "additionalItems",
  "contains",
  "minContains",
  "maxContains",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "unevaluatedProperties",
  "unevaluatedItems",
];

function compareWhole(before: JsonObject, after: JsonObject, add: Add): void {
  for (const keyword of [...REFUSING, ...ENTWINED]) {
    if (isSame(before[keyword], after[keyword])) continue;
    if (after[keyword] !== undefined) add(keyword, "is new or another one");
    else if (ENTWINED.includes(keyword)) add(keyword, "is gone");
  }
}

function compareTypes(before: JsonObject, after: JsonObject, add: Add): void {
  if (after["type"] === undefined) return;
  const was = before["type"] === undefined ? undefined : typeSet(namesIn(before["type"]));
  const is = typeSet(namesIn(after["type"]));
  if (was === undefined || (was & ~is) !== 0)
    add("type", `takes only ${namesIn(after["type"]).join(" or ")} now`);
}

const namesIn = (type: JsonValue): string[] => (Array.isArray(type) ? type : [type]).map(String);

function compareValues(before: JsonObject, after: JsonObject, add: Add): void {
  if (after["const"] !== undefined && !isSame(after["const"], before["const"])) {
    add("const", "is new or another one");
  }
  const is = after["enum"];
  if (!Array.isArray(is)) return;
  const was = before["enum"] ?? (before["const"] === undefined ? undefined : [before["const"]]);
  if (!Array.isArray(was)) {
    add("enum", "takes only some values now");
    return;
  }
  const left = new Set(is.map((value) => stringifyJson(value)));
  const gone = was.filter((value) => !left.has(stringifyJson(value)));
  if (gone.length > 0)
    add(
      "enum",
      `does not take ${gone
        .map((value) => stringifyJson(value))
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

function compareMembers(before: JsonObject, after: JsonObject, path: string, inside: Inside, add: Add): void {
  const [was, is] = [namedIn(before), namedIn(after)];
  const place = (name: string) => `${under(path, "properties")}.${name}`;
  const others = after["additionalProperties"] ?? after["unevaluatedProperties"];
  for (const [name, member] of was) inside(member, is.get(name) ?? others, place(name));
  // What was not named before was taken as the others were, or as something beside them says.
  const wereUnnamed = before["patternProperties"] === undefined ? before["additionalProperties"] : true;
  for (const [name, member] of is) {
    if (!was.has(name)) inside(wereUnnamed, member, place(name));
  }
  const [wereOthers, areOthers] = [before["additionalProperties"], after["additionalProperties"]];
  if (areOthers === false && wereOthers !== false) {
    add("additionalProperties", "refuses members that are not named now");
  } else if (isObject(areOthers)) inside(wereOthers, areOthers, under(path, "additionalProperties"));
}

/** What a reference beside other keywords names, or how far up a circle it leads. */
function compareReference(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  inside: Inside,
  path: string,
  add: Add,
): void {
  if (typeof after === "number" && before !== after) add("$ref", "is new or another one");
  else inside(before, after, path);
}

function namedIn(schema: JsonObject): ReadonlyMap<string, JsonValue> {
  return new Map(Object.entries(isObject(schema["properties"]) ? schema["properties"] : {}));
}

function compareElements(
  before: JsonObject,
  after: JsonObject,
  path: string,
  inside: Inside,
  add: Add,
): void {
  const [was, is] = [before["items"], after["items"]];
  if (Array.isArray(is)) {
    if (!isSame(was, is)) add("items", "is new or another one");
    return;
  }
  // Elements that `items` judged are left over without it.
  const judges = is ?? (was === undefined ? undefined : after["unevaluatedItems"]);
  inside(Array.isArray(was) ? undefined : was, judges, under(path, "items"));
}

function compareMember(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  changes: BreakingChange[],
  depth: number,
): void {
  if (before === false || after === true || after === undefined) return;
  if (after === false) changes.push({ path, change: "is gone" });
  else if (isObject(after)) compare(isObject(before) ? before : {}, after, path, changes, depth + 1);
}

const under = (path: string, step: string): string => (path === "" ? step : `${path}.${step}`);
