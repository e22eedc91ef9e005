import { formatOfModel } from "../auto.ts";
import { type PromptFormat, promptFormat } from "./format.ts";
import { OBJECT_ROWS, PROMPTED_ROWS } from "./rows-json.ts";
import { NAME_ROWS } from "./rows-name.ts";
import { LITERAL_ROWS, TAGGED_ROWS } from "./rows-values.ts";

const ROWS = [...OBJECT_ROWS, ...NAME_ROWS, ...TAGGED_ROWS, ...LITERAL_ROWS, ...PROMPTED_ROWS];

/** Every format in which tools can be written into a prompt, by the names of `models[].protocol`. */
const PROMPT_FORMATS: ReadonlyMap<string, PromptFormat> = new Map(
  ROWS.map(promptFormat).flatMap((format) => format.names.map((name) => [name, format])),
);

/** The best-known of all, for models whose own is not known. */
const USUAL = "hermes";

/** The format to write tools in; with `auto` the name of the model decides, and an unknown one gets the best-known format. */
export function promptFormatFor(protocol: string, model: string): PromptFormat {
  const name = protocol === "auto" ? formatOfModel(model) : protocol;
  return (PROMPT_FORMATS.get(name ?? USUAL) ?? PROMPT_FORMATS.get(USUAL)) as PromptFormat;
}

/** Whether the format has a place for what the model thinks before a call. */
export function hasThought(protocol: string): boolean {
  return PROMPT_FORMATS.get(protocol)?.thought === true;
}

/** Whether tools can be written into a prompt where `models[].protocol` says this. */
export function canPrompt(protocol: string): boolean {
  return protocol === "auto" || PROMPT_FORMATS.has(protocol);
}

/** Whether the format lives in prompts alone, so that an upstream cannot be expected to know it. */
export function isPromptOnly(protocol: string): boolean {
  return PROMPT_FORMATS.get(protocol)?.promptOnly === true;
}
