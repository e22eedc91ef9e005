import { type Markup, markupOf } from "./markup.ts";
import { type ArgumentSpelling, jsonArguments } from "./spelling.ts";

/** An earlier call, its parts ready for the place they get. */
export interface CallParts {
  /** Letters, digits, `_` and `-` only. */
  name: string;
  args: string;
  id: string;
  /** Its number in the conversation, from 0. */
  index: number;
  /** Its number in its message, from 0. */
  place: number;
  /** What the model thought before it, at the first call of a message only. */
  thought: string | undefined;
}

/** The result of an earlier call; `content` is JSON text without the format's markup. */
export interface ResultParts extends Omit<CallParts, "args" | "thought"> {
  content: string;
}

/** What stands before, between and behind the entries of a list. */
export interface Surround {
  open: string;
  between: string;
  close: string;
}

/** What a model must be told of a format beside its example. */
export type PromptNote =
  | "text_values"
  | "brace_quotes"
  | "own_lines"
  | "no_observation"
  | "final_answer"
  | "thought";

/** One format as it is written down: everything that differs between them. */
export interface PromptRow {
  /** Values of `models[].protocol`. */
  names: readonly string[];
  /** JSON unless it says otherwise. */
  spell?: ArgumentSpelling;
  call(call: CallParts): string;
  /** Around the calls of one message; a line each unless it says otherwise. */
  calls?: Surround;
  /** The format has no way to write several calls in one message. */
  oneCall?: true;
  /** Strings that are markup of the format, beside those of the default list and results. */
  markup: readonly string[];
  /** Further strings that are spelt with `\uXXXX` inside of JSON, and left alone in free text, where they are ordinary. */
  escapedInJson?: readonly string[];
  result?(result: ResultParts): string;
  /** Around the results of one turn. */
  results?: Surround;
  /** Around the list of tools, one JSON object each. */
  list?: Surround;
  notes?: readonly PromptNote[];
  /** Where the model must stop. */
  stop?: readonly string[];
  /** The format has a place for what the model thinks before a call. */
  thought?: true;
  /** No model has this format of its own accord: it is always asked for in a prompt. */
  promptOnly?: true;
}

/** A row with its gaps filled. */
export interface PromptFormat extends PromptRow {
  spell: ArgumentSpelling;
  calls: Surround;
  result(result: ResultParts): string;
  results: Surround;
  list: Surround;
  notes: readonly PromptNote[];
  stop: readonly string[];
  /** Of free text, calls and results. */
  text: Markup;
  /** Of JSON and other literals. */
  json: Markup;
}

/** Nothing around, a line end between. */
const LINES: Surround = { open: "", between: "\n", close: "" };

/** Nothing around, nothing between. */
export const JOINED: Surround = { open: "", between: "", close: "" };

const TOOLS: Surround = { open: "<tools>\n", between: "\n", close: "\n</tools>" };
const DEFAULT_MARKUP = ["<tools>", "</tools>", "<tool_response>", "</tool_response>"];

/** Most formats were made together with a role for results, which an upstream without tools does not have: tags stand in. */
function taggedResult({ name, content }: ResultParts): string {
  return `<tool_response>\n{"name": ${JSON.stringify(name)}, "content": ${content}}\n</tool_response>`;
}

/** Fills the gaps of a row. */
export function promptFormat(row: PromptRow): PromptFormat {
  const markup = [...DEFAULT_MARKUP, ...row.markup];
  return {
    spell: jsonArguments,
    calls: LINES,
    result: taggedResult,
    results: LINES,
    list: TOOLS,
    notes: [],
    stop: [],
    ...row,
    text: markupOf(markup),
    json: markupOf([...markup, ...(row.escapedInJson ?? [])]),
  };
}

/** `{"name": …, "arguments": …}` with other names for the two. */
export function callObject(nameKey: string, argsKey: string): (call: CallParts) => string {
  return ({ name, args }) => `{"${nameKey}": ${JSON.stringify(name)}, "${argsKey}": ${args}}`;
}
