import { stringifyJson } from "../json/stringify.ts";
import { isObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { STRING, typeOf, typeSet } from "./json-types.ts";
import { MAX_PATTERN_LENGTH, type Patterns } from "./pattern.ts";
import { step } from "./pointer.ts";
import { KEYWORDS } from "./schema-node.ts";
import type { FaultList } from "./schema-rejected.ts";

/** Members of one object. */
const MAX_PROPERTIES = 256;
/** Branches of one `allOf`, `anyOf` or `oneOf`. */
const MAX_BRANCHES = 100;
/** Values of one `enum`, and the characters they may take together. */
const MAX_ENUM_VALUES = 1_000;
const MAX_ENUM_LENGTH = 16_384;
/** Characters of a parameter's name. */
const MAX_NAME_LENGTH = 64;

/** Keywords that would make validation asynchronous, depend on the data or on the place of the caller. */
const REFUSED = ["$async", "$data", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"];

const PROTOTYPE_NAMES: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  "prototype",
]);

const QUOTES_AND_CONTROLS = /["'`\\\p{Cc}\p{Cs}]/u;

/** Pairs of keywords of which the first must not be above the second. */
const RANGES = [
  ["minimum", "maximum"],
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"],
] as const;

type Check = (node: JsonObject, pointer: string, faults: FaultList, patterns: Patterns) => void;

/** Lists what is wrong with the keywords of one subschema. */
export function checkNode(node: JsonObject, pointer: string, faults: FaultList, patterns: Patterns): void {
  for (const check of CHECKS) check(node, pointer, faults, patterns);
}

const CHECKS: readonly Check[] = [
  checkRefused,
  checkNames,
  checkEnum,
  checkBranches,
  checkPatterns,
  checkRanges,
  checkDefault,
];

function checkRefused(node: JsonObject, pointer: string, faults: FaultList): void {
  for (const keyword of REFUSED) {
    if (Object.hasOwn(node, keyword)) {
      faults.add(step(pointer, keyword), "keyword_not_allowed", `${keyword} is not supported.`);
    }
  }
  const id = Object.hasOwn(node, "$id") ? node["$id"] : undefined;
  // A name for the whole document changes nothing; one inside it would change what its references mean.
  if (id !== undefined && (pointer !== "" || /\/\/json-schema\.org\//.test(String(id)))) {
    faults.add(
      step(pointer, "$id"),
      "keyword_not_allowed",
      "$id is not allowed here; refer by JSON pointer or $anchor.",
    );
  }
  for (const [keyword, value] of Object.entries(node)) {
    const isData = keyword === "enum" || keyword === "const" || KEYWORDS.get(keyword) !== "value";
    if (!isData && isObject(value) && Object.hasOwn(value, "$data")) {
      faults.add(step(pointer, keyword), "keyword_not_allowed", "$data references are not supported.");
    }
  }
}

function checkNames(node: JsonObject, pointer: string, faults: FaultList): void {
  const properties = keysOf(node["properties"]);
  if (properties.length > MAX_PROPERTIES) {
    faults.add(
      step(pointer, "properties"),
      "too_many_properties",
      `has more than ${MAX_PROPERTIES} members.`,
    );
  }
  for (const name of properties) checkName(name, step(step(pointer, "properties"), name), faults);
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    for (const name of keysOf(node[keyword])) checkName(name, step(step(pointer, keyword), name), faults);
  }
  const required = Array.isArray(node["required"]) ? node["required"] : [];
  for (const name of required) {
    if (typeof name === "string") checkName(name, step(pointer, "required"), faults);
  }
}

function checkName(name: string, pointer: string, faults: FaultList): void {
  if (name.length > MAX_NAME_LENGTH) {
    faults.add(pointer, "name_too_long", `a parameter's name may have ${MAX_NAME_LENGTH} characters.`);
  } else if (PROTOTYPE_NAMES.has(name)) {
    faults.add(
      pointer,
      "name_not_allowed",
      `"${name}" is a member of every JavaScript object and cannot name a parameter.`,
    );
  } else if (name === "" || QUOTES_AND_CONTROLS.test(name)) {
    faults.add(
      pointer,
      "name_not_allowed",
      "a parameter's name must not be empty or hold quotes, backslashes or control characters.",
    );
  }
}

function checkEnum(node: JsonObject, pointer: string, faults: FaultList): void {
  const values = node["enum"];
  if (!Array.isArray(values)) return;
  if (values.length === 0) {
    faults.add(step(pointer, "enum"), "schema_invalid", "lists no value, so none is valid.");
  }
  const length = values.length > MAX_ENUM_VALUES ? 0 : stringifyJson(values).length;
  if (values.length <= MAX_ENUM_VALUES && length <= MAX_ENUM_LENGTH) return;
  faults.add(
    step(pointer, "enum"),
    "enum_too_large",
    `may list ${MAX_ENUM_VALUES} values of ${MAX_ENUM_LENGTH} characters together.`,
  );
}

function checkBranches(node: JsonObject, pointer: string, faults: FaultList): void {
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const branches = node[keyword];
    if (Array.isArray(branches) && branches.length > MAX_BRANCHES) {
      faults.add(step(pointer, keyword), "too_many_branches", `may have ${MAX_BRANCHES} branches.`);
    }
  }
}

function checkPatterns(node: JsonObject, pointer: string, faults: FaultList, patterns: Patterns): void {
  const { pattern, type } = node;
  if (typeof pattern === "string") {
    checkPattern(pattern, step(pointer, "pattern"), faults, patterns);
    const types = typesOf(type);
    if (types.length > 0 && !(typeSet(types) & STRING)) {
      faults.add(
        step(pointer, "pattern"),
        "schema_invalid",
        `guards nothing, since the type is ${types.join(" or ")}.`,
      );
    }
  }
  for (const source of keysOf(node["patternProperties"])) {
    const at = step(step(pointer, "patternProperties"), source.slice(0, MAX_PATTERN_LENGTH));
    checkPattern(source, at, faults, patterns);
  }
}

function checkPattern(source: string, pointer: string, faults: FaultList, patterns: Patterns): void {
  if (source.length > MAX_PATTERN_LENGTH) {
    faults.add(pointer, "pattern_too_long", `a pattern may have ${MAX_PATTERN_LENGTH} characters.`);
    return;
  }
  try {
    patterns.get(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    faults.add(pointer, "pattern_unsupported", `cannot be matched in linear time: ${reason}.`);
  }
}

function checkRanges(node: JsonObject, pointer: string, faults: FaultList): void {
  for (const [least, most] of RANGES) {
    const [low, high] = [node[least], node[most]];
    if (isNumber(low) && isNumber(high) && low > high) {
      faults.add(step(pointer, least), "schema_unsatisfiable", `is above ${most}, so no value is valid.`);
    }
  }
  const multiple = node["multipleOf"];
  if (isNumber(multiple) && multiple > 0 && multiple < 1e-100) {
    faults.add(step(pointer, "multipleOf"), "schema_invalid", "is too small to divide by.");
  }
}

function checkDefault(node: JsonObject, pointer: string, faults: FaultList): void {
  const value = Object.hasOwn(node, "default") ? node["default"] : undefined;
  const types = typesOf(node["type"]);
  // Many generators write `default: null` for "no default", whatever the type is.
  if (value === undefined || value === null || types.length === 0 || typeOf(value) & typeSet(types)) return;
  faults.add(step(pointer, "default"), "schema_invalid", `is not of type ${types.join(" or ")}.`);
}

function typesOf(type: JsonValue | undefined): string[] {
  const names = Array.isArray(type) ? type : [type];
  return names.filter((name) => typeof name === "string");
}

function keysOf(value: JsonValue | undefined): string[] {
  return isObject(value) ? Object.keys(value) : [];
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
