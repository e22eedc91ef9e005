import { TEXT_FORMATS } from "./formats/all.ts";
import type { Grammar, GrammarFormat } from "./machine/grammar.ts";
import { grammarFormat } from "./machine/grammar-reader.ts";

/** How models write calls, by their names; the first that fits. What stands before a slash is somebody's name for a place. */
const BY_MODEL: readonly (readonly [name: RegExp, format: string])[] = [
  [/gpt-?oss/, "harmony"],
  [/qwen[-_]?3[-_.]?(5|6|7)|qwen.*coder|nemotron-?3|step-?3\.5|mimo/, "qwen3_coder"],
  [/deepseek.*(v?3\.2|v4)(?!.*exp)/, "deepseek_dsml"],
  [/deepseek.*v?3\.[12]/, "deepseek_v31"],
  [/deepseek/, "deepseek_v3"],
  [/glm-?(4\.[5-9]|[5-9])|laguna/, "glm4"],
  [/kimi-?k3/, "kimi_k3"],
  [/kimi/, "kimi_k2"],
  [/mi[sx]tral|codestral|devstral|magistral/, "mistral"],
  [/functionary.*(v3\.1)/, "functionary_v31"],
  [/functionary.*v2/, "functionary_v2"],
  [/functionary/, "functionary_v32"],
  [/llama-?4/, "pythonic"],
  [/xlam/, "xlam"],
  [/hermes|qwen|qwq|ernie/, "hermes"],
  [/llama/, "llama3_json"],
  [/lfm-?2|olmo-?3/, "pythonic_tagged"],
  [/minimax.*m1/, "minimax_m1"],
  [/minimax.*m3/, "minimax_m3"],
  [/minimax/, "minimax_m2"],
  [/functiongemma/, "functiongemma"],
  [/gemma-?4/, "gemma4"],
  [/gemma/, "gemma_tool_code"],
  [/phi-?4-?mini|firefunction/, "phi4_functools"],
  [/command-?(r|a)/, "command_r"],
  [/granite/, "granite"],
  [/internlm/, "internlm"],
  [/seed-?oss/, "seed_oss"],
  [/hunyuan.*a13b|jamba/, "tool_calls_array"],
  [/hy-?v?3|hunyuan/, "hy_v3"],
  [/apertus/, "apertus"],
  [/minicpm-?5/, "minicpm5"],
  [/step-?3/, "step3"],
];

/** Formats that are read only where they are meant. */
const ALONE = new Set(["harmony", "react", "gemma4"]);

/**
 * The format for a model of this name: its family's, and behind it every marker of the others that no ordinary text holds; what follows a
 * marker decides between those that share it. Of an unknown model only those markers are read.
 */
export function autoFormat(model: string): GrammarFormat {
  const known = formatOfModel(model) ?? "";
  const made = autoFormats.get(known) ?? makeFormat(known);
  autoFormats.set(known, made);
  return made;
}

/** The name of the format in which models of this name write calls; `undefined` for an unknown one. */
export function formatOfModel(model: string): string | undefined {
  const name = model.toLowerCase().replace(/^.*\//, "");
  return BY_MODEL.find(([pattern]) => pattern.test(name))?.[1];
}

const autoFormats = new Map<string, GrammarFormat>();

function makeFormat(known: string): GrammarFormat {
  const own = TEXT_FORMATS.find(({ names }) => names.includes(known));
  if (own && ALONE.has(known)) return own;
  const first: Grammar = own?.grammar ?? { names: ["auto"], openers: [] };
  const others = TEXT_FORMATS.filter(({ names }) => !names.some((name) => ALONE.has(name)));
  const openers = others
    .flatMap(({ grammar }) => grammar.openers)
    .filter(({ ambiguous, marker }) => !ambiguous && /^\W/.test(marker));
  const drops = [...(first.drops ?? []), ...others.flatMap(({ grammar }) => grammar.drops ?? [])];
  return grammarFormat({ ...first, drops, openers: [...new Set([...first.openers, ...openers])] });
}
