import type { ToolDefinition } from "./tool.ts";
import { declaredProperties, placeholders, SECRET_EXAMPLE, secretNames } from "./tool-endpoint.ts";
import { type LintNote, note } from "./tool-lint-note.ts";
import { lintSchema } from "./tool-lint-schema.ts";
import { isSnakeCase, toSnakeCase, wordsOf } from "./tool-lint-words.ts";
import { lintWrite } from "./tool-write.ts";

type Definition = Omit<ToolDefinition, "version">;

/** Longer descriptions are refused by some providers. */
const MAX_DESCRIPTION = 1_024;
/** Notes about one definition. */
const MAX_NOTES = 100;

/** What could be better about a valid definition, at most 100 notes. They never change what the tool does. */
export function lintTool(definition: Definition): LintNote[] {
  const notes = [
    ...lintName(definition),
    ...lintDescription(definition),
    ...lintSchema(definition.parameters),
    ...lintArguments(definition),
    ...lintSafety(definition),
    ...lintWrite(definition),
  ];
  return notes.slice(0, MAX_NOTES);
}

function lintName({ name }: Definition): LintNote[] {
  if (isSnakeCase(name)) return [];
  const message = "Models follow names in snake_case best.";
  return [note("name_not_snake_case", "name", message, toSnakeCase(name, "tool") ?? name)];
}

function lintDescription({ name, description }: Definition): LintNote[] {
  const text = description.trim();
  if (text === "") {
    const message = "The model chooses by the description; without one it has to guess from the name.";
    return [note("description_missing", "description", message, occasion(name))];
  }
  const notes: LintNote[] = [];
  if (!saysWhen(text)) {
    const message =
      "The description says what the tool is, but not when to use it, so the model calls it too often or not at all.";
    notes.push(
      note("description_without_when", "description", message, `${sentence(text)} ${occasion(name)}`),
    );
  }
  if (description.length > MAX_DESCRIPTION) {
    const message = `Some providers refuse descriptions above ${MAX_DESCRIPTION} characters, and models read past them.`;
    const suggestion = `${text
      .slice(0, MAX_DESCRIPTION / 2)
      .replace(/\S*$/, "")
      .trim()} …`;
    notes.push(note("description_long", "description", message, suggestion));
  }
  return notes;
}

const WHEN =
  /\b(?:when|whenever|if|use[ds]?|before|after|while|unless|instead|asks?|wants?|needs?|wenn|falls|quand|lorsque|si|cuando|quando)\b|[当若时]|如果|用于|需要|适用/iu;

/** Whether a text names an occasion. One in a script that is not known here is taken to do so. */
function saysWhen(text: string): boolean {
  return WHEN.test(text) || !/\p{Script=Latin}|\p{Script=Han}/u.test(text);
}

const VERBS = new Set(
  (
    "add ask book buy calculate call cancel change check close compare convert count create delete describe download edit estimate " +
    "fetch find get insert list load lookup make move open order pay plan play post query read remove rename reserve retrieve run " +
    "save search send set show start stop submit summarize translate update upload validate verify write"
  ).split(" "),
);

/** When a tool of this name is likely meant to be used. */
function occasion(name: string): string {
  const words = wordsOf(name);
  const [verb = "", ...rest] = words;
  if (VERBS.has(verb)) return `Use it when the user wants to ${[verb, ...rest].join(" ")}.`;
  return `Use it when the user asks about ${words.join(" ") || name}.`;
}

const sentence = (text: string): string => (/[.!?。！？]$/u.test(text) ? text : `${text}.`);

function lintArguments({ http, parameters }: Definition): LintNote[] {
  const inUrl = new Set(placeholders(http.url));
  const required = parameters?.["required"];
  const optional = [...inUrl].filter((name) => !(Array.isArray(required) && required.includes(name)));
  const notes = optional.map((name) => {
    const message = `{${name}} stands in the URL, but the schema does not require it: a call without it cannot be sent.`;
    const all = [...(Array.isArray(required) ? required : []), name];
    return note("url_parameter_optional", "http.url", message, `"required": ${JSON.stringify(all)}`);
  });
  if (http.body !== "none") return notes;
  const templates = [...Object.values(http.query), ...Object.values(http.headers)];
  const used = new Set([...inUrl, ...templates.flatMap(placeholders)]);
  const unsent = [...declaredProperties(parameters)].filter((name) => !used.has(name));
  for (const name of unsent) {
    const message = `The parameter "${name}" is never sent: no body, and neither URL, query nor headers use it.`;
    const suggestion = `"query": { ${JSON.stringify(name)}: "{${name}}" }`;
    notes.push(note("parameter_not_sent", `parameters.properties.${name}`, message, suggestion));
  }
  return notes;
}

function lintSafety({ name: tool, http, level }: Definition): LintNote[] {
  const notes: LintNote[] = [];
  if (level === "read" && http.method === "DELETE") {
    const message = 'A DELETE seldom only reads; level "read" runs it without an approval and may repeat it.';
    notes.push(note("delete_is_read", "level", message, '"level": "write"'));
  }
  for (const [name, value] of Object.entries(http.headers)) {
    if (!/^(authorization|cookie|.*(api-?key|token|secret).*)$/i.test(name)) continue;
    if (secretNames(value).length > 0 || placeholders(value).length > 0) continue;
    const message = "This looks like a credential in clear text: whoever may read the registry can read it.";
    const scheme = /^(?:Bearer|Basic|Token) /i.exec(value)?.[0] ?? "";
    const suggestion = `${scheme}${secretRef(toSnakeCase(tool, "tool") ?? tool)}`;
    notes.push(note("credential_in_clear", `http.headers.${name}`, message, suggestion));
  }
  return notes;
}

const secretRef = (name: string): string => SECRET_EXAMPLE.replace("NAME", name.toUpperCase());
