import type { Block } from "../machine/grammar.ts";
import { ahead, flow, MAX_NAME, textBefore } from "../machine/lookahead.ts";
import type { Output } from "../machine/output.ts";
import {
  Markers,
  NO_MARKERS,
  peek,
  type Reading,
  skipBlanks,
  type TextInput,
} from "../machine/text-input.ts";
import type { ReaderContext } from "../reader.ts";
import { Brackets, MAX_BRACKETS } from "./brackets.ts";
import { CallWriter } from "./call-writer.ts";
import { forOnlyText } from "./declared.ts";
import { FENCE, skipEnd, skipFence } from "./fence.ts";
import { parsed } from "./json-text.ts";
import { passValue } from "./json-value.ts";
import { argumentsToJson, PYTHON } from "./loose-literal.ts";
import { SchemaView } from "./schema-view.ts";

type Label = "thought" | "action" | "input" | "observation" | "answer";

/** What lines of this format begin with. */
export const REACT_MARKERS = ["Thought", "Action", "Observation", "Final Answer"].flatMap((word) => [
  word,
  `**${word}`,
]);

const STARTS = new Markers(REACT_MARKERS);
const LABEL =
  /^(?:\*\*)?(?:(Thought)|(Action)|(Action Input)|(Observation)|(Final Answer))(?: \d+)?( Input)?(?:\*\*)?$/;
const KINDS: readonly Label[] = ["thought", "action", "input", "observation", "answer"];
const LABEL_END = new Markers([":", "\n"]);
const BOLD = new Markers(["**"]);
const LINE_END = new Markers(["\n"]);
const NAME_END = new Markers(["\n", "("]);
/** A fence may be in any language. */
const ANY = /^/;
const MAX_LABEL = 32;
const BRACKETS = new Brackets(PYTHON.quotes);

/** Reads what a label says that stands at the beginning of a line. */
export const reactLine: Block = function* read(input, out, context) {
  const label = yield* passLabel(input);
  if (label === "thought") {
    out.markup();
    yield* passLines(input, out.newThought());
    return true;
  }
  if (label === "answer") {
    out.markup();
    return true;
  }
  return label === "action" && (yield* passAction(input, out, context));
};

/** Passes over a label and the white space behind it; where there is none, nothing is passed over. */
function* passLabel(input: TextInput): Reading<Label | undefined> {
  const mark = input.mark();
  const starts = (yield* STARTS.here(input)) !== undefined;
  const written = starts ? yield* textBefore(input, LABEL_END, MAX_LABEL) : undefined;
  const groups = LABEL.exec(written ?? "");
  if (!groups || input.next !== ":") {
    input.back(mark);
    return undefined;
  }
  input.release();
  input.at++;
  yield* BOLD.skip(input);
  for (let next = yield* peek(input); next === " " || next === "\t"; next = yield* peek(input)) input.at++;
  const kind = KINDS.find((_, at) => groups[at + 1] !== undefined);
  return kind === "action" && groups[KINDS.length + 1] !== undefined ? "input" : kind;
}

const label = (input: TextInput) => ahead(input, () => passLabel(input));

/** Hands on whole lines up to one that begins with a label. */
function* passLines(input: TextInput, take: (text: string) => void): Reading<void> {
  for (;;) {
    if ((yield* flow(input, LINE_END, take)) === undefined) return;
    take(input.take(input.at + 1));
    if ((yield* label(input)) !== undefined) return;
  }
}

function* passAction(input: TextInput, out: Output, context: ReaderContext): Reading<boolean> {
  const name = yield* readName(input, context);
  if (name === undefined) return false;
  const schema = new SchemaView(context.tools.get(name));
  if (input.next === "(") {
    const { text, end } = yield* BRACKETS.read(input, MAX_BRACKETS);
    const json = end === "closed" ? argumentsToJson(text, PYTHON, schema) : undefined;
    if (json === undefined) return false;
    out.wholeCall(name, json);
  } else if (yield* passInputLabel(input)) {
    yield* passInput(input, new CallWriter(out, name, true), schema);
  } else if (schema.required.length > 0) return false;
  else out.wholeCall(name, "{}");
  yield* passInvented(input);
  return true;
}

/** A declared name alone on its line, or before a bracket. */
function* readName(input: TextInput, { tools }: ReaderContext): Reading<string | undefined> {
  const names = [...tools.keys()];
  for (;;) {
    const { marker, at } = NAME_END.find(input);
    if (at - input.at > MAX_NAME) return undefined;
    const written = input.text.slice(input.at, at).replace(/^[`"'*\s]+|[`"'*\s]+$/g, "");
    if (marker !== undefined || input.ended) {
      if (!tools.has(written)) return undefined;
      input.at = marker === undefined ? input.text.length : at;
      return written;
    }
    if (!names.some((name) => name.startsWith(written))) return undefined;
    yield;
  }
}

function* passInputLabel(input: TextInput): Reading<boolean> {
  const mark = input.mark();
  yield* skipBlanks(input);
  if ((yield* passLabel(input)) === "input") {
    input.release();
    return true;
  }
  input.back(mark);
  return false;
}

function* passInput(input: TextInput, writer: CallWriter, schema: SchemaView): Reading<void> {
  const none = yield* ahead(input, () => startsLabel(input));
  if (none) return writer.end();
  yield* skipBlanks(input);
  const fenced = yield* skipFence(input, ANY);
  if ((yield* skipBlanks(input)) === "{") {
    if ((yield* passValue(input, NO_MARKERS, (text, put) => writer.raw(text, put))) === "cut") return;
  } else {
    const pieces: string[] = [];
    if (fenced) yield* flow(input, FENCE, (text) => pieces.push(text));
    else yield* passLines(input, (text) => pieces.push(text));
    writeText(writer, pieces.join("").trim(), schema);
  }
  if (fenced) yield* skipEnd(input, NO_MARKERS);
  writer.end();
}

function* startsLabel(input: TextInput): Reading<boolean> {
  if ((yield* peek(input)) !== "\n") return false;
  yield* skipBlanks(input);
  return (yield* passLabel(input)) !== undefined;
}

function writeText(writer: CallWriter, text: string, schema: SchemaView): void {
  if (text === "" || (text === "None" && schema.required.length === 0)) return;
  const said = parsed(text);
  writer.raw(forOnlyText(typeof said === "string" ? said : text, schema));
}

/** What the model answers itself in place of the tool, and everything behind it, is no part of the reply. */
function* passInvented(input: TextInput): Reading<void> {
  const mark = input.mark();
  yield* skipBlanks(input);
  const next = yield* label(input);
  if (next !== "observation" && next !== "answer") return input.back(mark);
  input.release();
  yield* flow(input, NO_MARKERS, () => {});
}
