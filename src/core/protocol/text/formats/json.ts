import type { CallShape } from "../blocks/call-keys.ts";
import { bareBlock, fencedBlock, type JsonBlock, jsonBlock } from "../blocks/json-block.ts";
import type { Grammar, Opener } from "../machine/grammar.ts";
import { grammarFormat } from "../machine/grammar-reader.ts";

/** A marker before JSON objects that are calls. */
export const marked = (block: JsonBlock): Opener => ({ marker: block.marker, block: jsonBlock(block) });

/** Calls that begin a line without any marker. */
export const bare = (shape?: CallShape): Opener[] =>
  ["{", "["].map((marker) => ({ marker, block: bareBlock(shape), ambiguous: true }));

/** Calls in a fence, and in one under a line `Action:`. */
export const fenced = (shape?: CallShape): Opener[] =>
  ["", "Action:"].map((label) => ({
    marker: label || "```",
    block: fencedBlock(shape, label),
    ambiguous: true,
  }));

/** JSON in the marks that several families share; what stands in them decides between those. */
export const TOOL_CALL = marked({ marker: "<tool_call>", close: ["</tool_call>"] });
const TOOL_CALLS_TOKEN = marked({ marker: "<|tool_call|>", close: ["<|/tool_call|>"] });

const GRAMMARS: readonly Grammar[] = [
  { names: ["hermes"], openers: [TOOL_CALL] },
  {
    names: ["granite"],
    openers: [
      TOOL_CALL,
      TOOL_CALLS_TOKEN,
      marked({ marker: "<function_call>", close: ["</function_call>"] }),
    ],
  },
  {
    names: ["minimax_m1", "tool_calls_array"],
    openers: [marked({ marker: "<tool_calls>", close: ["</tool_calls>"] })],
  },
  {
    names: ["apertus"],
    openers: [
      marked({ marker: "<|tools_prefix|>", close: ["<|tools_suffix|>"], shape: { keyIsName: true } }),
    ],
  },
  {
    names: ["internlm"],
    openers: [marked({ marker: "<|action_start|>", second: "<|plugin|>", close: ["<|action_end|>"] })],
  },
  {
    names: ["command_r"],
    reasoning: ["<|START_THINKING|>", "<|END_THINKING|>"],
    drops: ["<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"],
    openers: [
      marked({
        marker: "<|START_ACTION|>",
        close: ["<|END_ACTION|>"],
        shape: { noTool: ["directly_answer", "directly-answer"] },
      }),
      ...fenced({ noTool: ["directly_answer", "directly-answer"] }),
    ],
  },
  {
    names: ["phi4_functools"],
    openers: [marked({ marker: "functools" }), TOOL_CALLS_TOKEN],
  },
  { names: ["bare_json"], openers: bare() },
  { names: ["fenced_json"], openers: fenced() },
  { names: ["tool_call_hook"], openers: [...bare({ thought: true }), ...fenced({ thought: true })] },
];

/** The formats in which a call is a JSON object with its name in it. */
export const JSON_FORMATS = GRAMMARS.map(grammarFormat);
