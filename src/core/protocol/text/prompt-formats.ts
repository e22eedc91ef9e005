import { type PromptFormat, promptFormat } from "./prompt-format.ts";
import { OBJECT_ROWS, PROMPTED_ROWS } from "./prompt-rows-json.ts";
import { NAME_ROWS } from "./prompt-rows-name.ts";
import { LITERAL_ROWS, TAGGED_ROWS } from "./prompt-rows-values.ts";

const ROWS = [...OBJECT_ROWS, ...NAME_ROWS, ...TAGGED_ROWS, ...LITERAL_ROWS, ...PROMPTED_ROWS];

/** Every format in which tools can be written into a prompt, by the names of `models[].protocol`. */
const PROMPT_FORMATS: ReadonlyMap<string, PromptFormat> = new Map(
  ROWS.map(promptFormat).flatMap((format) => format.names.map((name) => [name, format])),
);

/** The best-known of all, for models whose own is not known. */
const USUAL = "hermes";

/** The format to write tools in. `auto`, which stands for no one format, and unknown names get the best-known one. */
export function promptFormatFor(protocol: string): PromptFormat {
  return (PROMPT_FORMATS.get(protocol) ?? PROMPT_FORMATS.get(USUAL)) as PromptFormat;
}

/** Whether the format lives in prompts alone, so that an upstream cannot be expected to know it. */
export function isPromptOnly(protocol: string): boolean {
  return PROMPT_FORMATS.get(protocol)?.promptOnly === true;
}
