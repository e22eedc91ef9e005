import { stringifyJson } from "../../../json/stringify.ts";
import type { JsonObject, JsonValue } from "../../../json/value.ts";
import { exampleArguments } from "./example.ts";
import type { CallParts, PromptFormat } from "./format.ts";
import { PROMPT_TEXTS, type PromptTexts } from "./texts.ts";

/** A tool that the model may call. */
export interface PromptTool {
  name: string;
  /** Its declaration. */
  spec: JsonObject;
  /** JSON Schema of its arguments. */
  parameters: JsonValue | undefined;
}

/** What a client may demand of the next reply; with `tool` that tool must be called. */
export type PromptChoice = "auto" | "none" | "required" | { tool: string };

/** What the instruction depends on beside the format. */
export interface InstructionOptions {
  tools: readonly PromptTool[];
  choice: PromptChoice;
  /** Several calls in one reply are welcome. */
  parallel: boolean;
  locale: "en" | "zh";
}

/**
 * What a model without tool support must be told before it can call tools: the tools, one example, how results come, and rules.
 * With no tool, or the choice `none`, it is one sentence that says that nothing can be called.
 */
export function instruction(options: InstructionOptions, format: PromptFormat): string {
  const { tools, choice, locale } = options;
  const texts = PROMPT_TEXTS[locale];
  const shown = tools.find(({ name }) => typeof choice === "object" && choice.tool === name) ?? tools[0];
  if (shown === undefined || choice === "none") return texts.mayNotCall;
  const list = tools.map(({ spec }) => format.json.inJson(stringifyJson(spec)));
  const { open, between, close } = format.list;
  return [
    texts.title,
    texts.list,
    `${open}${list.join(between)}${close}`,
    texts.example(shown.name),
    exampleCall(shown, format),
    texts.result,
    exampleResult(shown, format),
    rules(options, format, texts),
  ].join("\n\n");
}

const EXAMPLE: Omit<CallParts, "name" | "args"> = { id: "", index: 0, place: 0, thought: "…" };

function exampleCall({ name, parameters }: PromptTool, format: PromptFormat): string {
  const args = format.spell(exampleArguments(parameters), format.json);
  const call = format.call({ ...EXAMPLE, name, args });
  return `${format.calls.open}${call}${format.calls.close}`;
}

function exampleResult({ name }: PromptTool, format: PromptFormat): string {
  const result = format.result({ ...EXAMPLE, name, content: '"…"' });
  return `${format.results.open}${result}${format.results.close}`;
}

function rules({ choice, parallel }: InstructionOptions, format: PromptFormat, texts: PromptTexts): string {
  const block = format.calls.open === "" ? texts.repeat : texts.inside;
  const list = [
    ...texts.rules,
    format.oneCall || !parallel ? texts.single : block,
    ...format.notes.map((note) => texts.notes[note]),
  ];
  if (choice === "required") list.push(texts.mustCall);
  if (typeof choice === "object") list.push(texts.mustCallTool(choice.tool));
  return list.map((rule) => `- ${rule}`).join("\n");
}
