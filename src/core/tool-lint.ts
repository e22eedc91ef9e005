import type { ToolDefinition } from "./tool.ts";
import { declaredProperties, placeholders, SECRET_EXAMPLE, secretNames } from "./tool-endpoint.ts";

/** Advice about a definition that is valid. `reason` is one of a closed set, `path` the member meant. */
export interface LintNote {
  reason: string;
  path: string;
  message: string;
}

type Definition = Omit<ToolDefinition, "version">;

const note = (reason: string, path: string, message: string): LintNote => ({ reason, path, message });

function lintTexts({ name, description, parameters }: Definition): LintNote[] {
  const notes: LintNote[] = [];
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    notes.push(note("name_not_snake_case", "name", "Models follow names in snake_case best."));
  }
  if (description.trim() === "") {
    const message = "Say when the model should use this tool; without a description it has to guess.";
    notes.push(note("description_missing", "description", message));
  }
  if (description.length > 1024) {
    const message = "Some providers refuse descriptions above 1024 characters.";
    notes.push(note("description_long", "description", message));
  }
  const properties = Object.entries(parameters?.["properties"] ?? {});
  for (const [property, schema] of properties) {
    if (schema === null || typeof schema !== "object" || Array.isArray(schema) || schema["description"])
      continue;
    const path = `parameters.properties.${property}`;
    notes.push(note("description_missing", path, `Describe the parameter "${property}" for the model.`));
  }
  return notes;
}

function lintArguments({ http, parameters }: Definition): LintNote[] {
  const inUrl = new Set(placeholders(http.url));
  const required = parameters?.["required"];
  const optional = [...inUrl].filter((name) => !(Array.isArray(required) && required.includes(name)));
  const notes = optional.map((name) =>
    note(
      "url_parameter_optional",
      "http.url",
      `{${name}} stands in the URL, but the schema does not require it.`,
    ),
  );
  if (http.body !== "none") return notes;
  const templates = [...Object.values(http.query), ...Object.values(http.headers)];
  const used = new Set([...inUrl, ...templates.flatMap(placeholders)]);
  const unsent = [...declaredProperties(parameters)].filter((name) => !used.has(name));
  for (const name of unsent) {
    const message = `The parameter "${name}" is never sent: no body, and neither URL, query nor headers use it.`;
    notes.push(note("parameter_not_sent", `parameters.properties.${name}`, message));
  }
  return notes;
}

function lintSafety({ http, level }: Definition): LintNote[] {
  const notes: LintNote[] = [];
  if (level === "read" && http.method === "DELETE") {
    const message = 'A DELETE seldom only reads; level "read" runs it without an approval and may repeat it.';
    notes.push(note("delete_is_read", "level", message));
  }
  for (const [name, value] of Object.entries(http.headers)) {
    if (!/^(authorization|cookie|.*(api-?key|token|secret).*)$/i.test(name)) continue;
    if (secretNames(value).length > 0 || placeholders(value).length > 0) continue;
    const message = `This looks like a credential in clear text; refer to it as ${SECRET_EXAMPLE}.`;
    notes.push(note("credential_in_clear", `http.headers.${name}`, message));
  }
  return notes;
}

function lintWithoutEffect({ cache_ttl_s, partial_ok }: Definition): LintNote[] {
  const set = { cache_ttl_s: cache_ttl_s > 0, partial_ok };
  return Object.entries(set)
    .filter(([, isSet]) => isSet)
    .map(([member]) => note("no_effect", member, `"${member}" has no effect in this version.`));
}

/** What could be better about a valid definition. The notes never change what the tool does. */
export function lintTool(definition: Definition): LintNote[] {
  return [
    ...lintTexts(definition),
    ...lintArguments(definition),
    ...lintSafety(definition),
    ...lintWithoutEffect(definition),
  ];
}
