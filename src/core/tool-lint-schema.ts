import { stringifyJson } from "./json/stringify.ts";
import { isObject, type JsonObject, type JsonValue } from "./json/value.ts";
import { lintDefault } from "./tool-lint-default.ts";
import { lintNesting } from "./tool-lint-nesting.ts";
import { type LintNote, note } from "./tool-lint-note.ts";
import { exampleOfPattern } from "./tool-lint-pattern.ts";
import { isSnakeCase, toSnakeCase, wordsOf } from "./tool-lint-words.ts";

const MAX_REQUIRED = 6;
const MAX_BYTES = 4_096;
/** Values of an enumeration that a suggestion lists. */
const MAX_LISTED = 5;

/** A named parameter, at the top or within another. */
interface Member {
  name: string;
  path: string;
  /** Names from the top level to this one. */
  names: readonly string[];
  /** `{}` for the schema `true`. */
  schema: JsonObject;
  required: boolean;
}

/** What makes the parameters of a tool hard for a model. */
export function lintSchema(parameters: JsonObject | undefined): LintNote[] {
  if (!parameters) return [];
  const members = [...membersOf(parameters, "parameters", [])];
  return [
    ...lintSize(parameters),
    ...lintRequired(parameters, "parameters"),
    ...lintNesting(parameters),
    ...members.flatMap(lintMember),
  ];
}

function* membersOf(
  schema: JsonValue | undefined,
  path: string,
  names: readonly string[],
): Generator<Member> {
  if (!isObject(schema)) return;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const [name, value] of entriesOf(schema["properties"])) {
    if (value === false) continue;
    const at = `${path}.properties.${name}`;
    const all = [...names, name];
    const own = isObject(value) ? value : {};
    yield { name, path: at, names: all, schema: own, required: required.includes(name) };
    yield* membersOf(own, at, all);
  }
  yield* membersOf(schema["items"], `${path}.items`, names);
  yield* membersOf(schema["additionalProperties"], `${path}.additionalProperties`, names);
  for (const keyword of ["then", "else"]) yield* membersOf(schema[keyword], `${path}.${keyword}`, names);
  for (const keyword of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
    for (const [at, branch] of entriesOf(schema[keyword])) {
      yield* membersOf(branch, `${path}.${keyword}.${at}`, names);
    }
  }
  for (const keyword of ["$defs", "definitions"]) {
    for (const [at, definition] of entriesOf(schema[keyword])) {
      yield* membersOf(definition, `${path}.${keyword}.${at}`, []);
    }
  }
}

function lintMember(member: Member): LintNote[] {
  return [
    ...lintName(member),
    ...lintDescription(member),
    ...lintType(member),
    ...lintValues(member),
    ...lintDefault(member.name, member.path, member.schema),
    ...lintRequired(member.schema, member.path),
  ];
}

function lintName({ name, path }: Member): LintNote[] {
  if (isSnakeCase(name)) return [];
  const message = "Models write parameter names in snake_case most reliably, and mix styles up.";
  const renamed =
    toSnakeCase(name, "param") ?? `an English name in snake_case, with "${name}" in its description`;
  return [note("name_not_snake_case", path, message, renamed)];
}

function lintDescription(member: Member): LintNote[] {
  const { name, path, schema } = member;
  if (schema["description"] || "const" in schema || "$ref" in schema) return [];
  const message = `Without a description the model has to guess what "${name}" is from its name.`;
  return [note("description_missing", path, message, `"description": ${JSON.stringify(describe(member))}`)];
}

const TYPING = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];

function lintType({ name, path, schema }: Member): LintNote[] {
  if (!TYPING.some((keyword) => keyword in schema)) {
    const message = `Without a type the model may send anything as "${name}", and nothing is checked or converted.`;
    return [note("type_missing", path, message, `"type": "${guessType(name, schema)}"`)];
  }
  if (schema["type"] !== "array" || "items" in schema || "prefixItems" in schema) return [];
  const message = `The model is not told what the elements of "${name}" are.`;
  return [note("type_missing", `${path}.items`, message, '"items": { "type": "string" }')];
}

function lintValues({ name, path, schema, required }: Member): LintNote[] {
  const notes: LintNote[] = [];
  const values = schema["enum"];
  if (Array.isArray(values) && values.length > 1 && !required && !("default" in schema)) {
    const message = `The model cannot know what holds when it leaves "${name}" out, so it picks a value that nobody asked for.`;
    notes.push(note("enum_without_default", path, message, `"default": ${stringifyJson(values[0] ?? null)}`));
  }
  const { pattern } = schema;
  const isShown = ["enum", "const", "examples", "example", "default"].some((keyword) => keyword in schema);
  if (typeof pattern === "string" && !isShown) {
    const message = `A model seldom meets a regular expression that it only reads; an example of "${name}" shows it.`;
    const example = exampleOfPattern(pattern);
    const shown = example === undefined ? `[a text that matches ${pattern}]` : JSON.stringify([example]);
    notes.push(note("example_missing", path, message, `"examples": ${shown}`));
  }
  return notes;
}

function lintRequired({ required }: JsonObject, path: string): LintNote[] {
  if (!Array.isArray(required) || required.length <= MAX_REQUIRED) return [];
  const message = `${required.length} parameters are required. What the model does not know it makes up, and with each one more that grows likelier.`;
  const rest = required.slice(MAX_REQUIRED).map(String).join(", ");
  return [note("required_many", `${path}.required`, message, `make optional, with a default: ${rest}`)];
}

function lintSize(parameters: JsonObject): LintNote[] {
  const bytes = sizeOf(parameters);
  if (bytes <= MAX_BYTES) return [];
  const message = `The schema has ${bytes} bytes. The model reads them with every request, and finds the right tool less often behind ${MAX_BYTES}.`;
  const sizes = entriesOf(parameters["properties"]).map(([name, schema]) => ({ name, size: sizeOf(schema) }));
  const [largest] = sizes.sort((a, b) => b.size - a.size);
  const suggestion = largest
    ? `shorten "${largest.name}", which takes ${largest.size} bytes, or make two tools of this one`
    : "make two tools of this one";
  return [note("schema_long", "parameters", message, suggestion)];
}

// ── Suggestions ──────────────────────────────────────────────────────────────

const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-03-31",
  "date-time": "2026-03-31T09:30:00Z",
  time: "09:30:00",
  email: "ada@example.com",
  uri: "https://example.com/page",
  uuid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
};

function describe({ name, schema }: Member): string {
  const words = wordsOf(name).join(" ") || name;
  const { enum: values, format } = schema;
  if (Array.isArray(values)) return `The ${words}: ${values.slice(0, MAX_LISTED).map(String).join(", ")}.`;
  const example = typeof format === "string" ? FORMATS[format] : undefined;
  if (example !== undefined) return `The ${words}, for example ${example}.`;
  switch (schema["type"] ?? guessType(name, schema)) {
    case "boolean":
      return `Whether ${words}.`;
    case "integer":
    case "number":
      return `The ${words}, with its unit and range.`;
    case "array":
      return `The ${words}, and what one of them is.`;
    default:
      return `The ${words}, as the user says it.`;
  }
}

const BY_KEYWORD: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ["object", ["properties", "additionalProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems"]],
  ["string", ["pattern", "format", "minLength", "maxLength"]],
  ["number", ["minimum", "maximum", "multipleOf"]],
];
const BY_WORD: readonly (readonly [type: string, words: RegExp])[] = [
  ["boolean", /^(?:is|has|can|should|include|allow|enable|with)\b/],
  ["integer", /\b(?:count|limit|offset|page|number|size|days|hours|minutes|seconds|age|year|quantity)$/],
  ["number", /\b(?:latitude|longitude|lat|lon|amount|price|rate|score|radius|distance|temperature)$/],
];

function guessType(name: string, schema: JsonObject): string {
  const words = wordsOf(name).join(" ");
  const [type = "string"] =
    BY_KEYWORD.find(([, keywords]) => keywords.some((keyword) => keyword in schema)) ??
    BY_WORD.find(([, pattern]) => pattern.test(words)) ??
    [];
  return type;
}

const sizeOf = (value: JsonValue): number => Buffer.byteLength(stringifyJson(value));

function entriesOf(value: JsonValue | undefined): [string, JsonValue][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}
