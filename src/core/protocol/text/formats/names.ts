import { type NamedBlock, namedBlock, sectionBlock } from "../blocks/named-block.ts";
import { namedTags } from "../blocks/named-tags.ts";
import { pythonBlock } from "../blocks/python-block.ts";
import { taggedOpeners } from "../blocks/tagged.ts";
import type { Grammar, Opener } from "../machine/grammar.ts";
import { grammarFormat } from "../machine/grammar-reader.ts";
import { bare, fenced, marked, TOOL_CALL } from "./json.ts";

const named = (row: NamedBlock): Opener => ({ marker: row.marker, block: namedBlock(row) });
const section = (marker: string, first: string): Opener => ({ marker, block: sectionBlock(marker, first) });

/** A token with its full-width bars, and as some servers spell it. */
const barred = (token: string) => [token, token.replaceAll("｜", "|")];

function deepseekOpeners(): Opener[] {
  const [begins, calls, separators, ends] = ["calls▁begin", "call▁begin", "sep", "call▁end"].map((name) =>
    barred(`<｜tool▁${name}｜>`),
  ) as [string[], string[], string[], string[]];
  return calls.flatMap((marker, spelling) => [
    section(begins[spelling] as string, marker),
    named({ marker, ends: separators, close: ends, nameInLine: "function" }),
  ]);
}

const DEEPSEEK: Omit<Grammar, "names"> = {
  openers: deepseekOpeners(),
  drops: [...barred("<｜tool▁calls▁end｜>"), ...barred("<｜end▁of▁sentence｜>")],
};

const LLAMA_ENDS = ["<|eom_id|>", "<|eot_id|>"];
const PYTHON_TAG = { marker: "<|python_tag|>", close: LLAMA_ENDS };
const FUNCTION_TAG = named({ marker: "<function=", ends: [">"], close: ["</function>"] });
const MISTRAL: Opener[] = [
  marked({ marker: "[TOOL_CALLS]", close: ["[/TOOL_CALLS]"], shape: { ids: true } }),
  named({ marker: "[TOOL_CALLS]", ends: ["[ARGS]", "{"], beforeId: "[CALL_ID]", close: ["[/TOOL_CALLS]"] }),
];
const RECIPIENT = { ends: ["\n"], close: LLAMA_ENDS, next: [">>>"], textName: "all" };

const GRAMMARS: readonly Grammar[] = [
  { names: ["deepseek_v3"], ...DEEPSEEK },
  { names: ["deepseek_v31"], ...DEEPSEEK },
  {
    names: ["kimi_k2"],
    openers: [
      section("<|tool_calls_section_begin|>", "<|tool_call_begin|>"),
      named({
        marker: "<|tool_call_begin|>",
        ends: ["<|tool_call_argument_begin|>"],
        close: ["<|tool_call_end|>"],
        next: ["<|tool_calls_section_end|>"],
        headerIsId: true,
      }),
    ],
    drops: ["<|tool_calls_section_end|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"],
  },
  { names: ["mistral"], reasoning: ["[THINK]", "[/THINK]"], openers: MISTRAL },
  {
    names: ["llama3_json"],
    openers: [
      marked(PYTHON_TAG),
      { marker: PYTHON_TAG.marker, block: pythonBlock({ ...PYTHON_TAG, declaredOnly: true }) },
      marked({ marker: "<|python_start|>", close: ["<|python_end|>"] }),
      FUNCTION_TAG,
      ...bare(),
    ],
    drops: LLAMA_ENDS,
  },
  { names: ["xlam"], openers: [...MISTRAL, TOOL_CALL, ...bare(), ...fenced()] },
  { names: ["functionary_v31"], openers: [FUNCTION_TAG], drops: LLAMA_ENDS },
  {
    names: ["functionary_v32"],
    opening: namedBlock({ marker: "", ...RECIPIENT }),
    openers: [named({ marker: ">>>", ...RECIPIENT })],
    drops: LLAMA_ENDS,
  },
  {
    names: ["functionary_v2"],
    openers: [
      named({
        marker: "<|recipient|>",
        ends: ["<|content|>"],
        next: ["<|from|>", "<|stop|>"],
        textName: "all",
      }),
    ],
    drops: ["<|from|>assistant", "<|stop|>"],
  },
  {
    names: ["kimi_k3"],
    reasoning: ["<|open|>think<|sep|>", "<|close|>think<|sep|>"],
    openers: taggedOpeners(
      namedTags({
        wrappers: [{ open: "<|open|>tools<|sep|>", close: "<|close|>tools<|sep|>" }],
        call: { open: "<|open|>call tool=", close: "<|close|>call<|sep|>" },
        parameter: { open: "<|open|>argument key=", close: "<|close|>argument<|sep|>" },
        assign: "=",
      }),
    ),
    drops: [
      "<|open|>response<|sep|>",
      "<|close|>response<|sep|>",
      "<|close|>message<|sep|>",
      "<|end_of_msg|>",
    ],
  },
  {
    names: ["inkling"],
    openers: [
      named({
        marker: "<|message_model|>",
        ends: ["<|content_invoke_tool_json|>"],
        close: ["<|end_message|>"],
        wholeCall: true,
      }),
    ],
  },
  {
    names: ["qwen_flower"],
    openers: [named({ marker: "✿FUNCTION✿:", ends: ["✿ARGS✿:"], next: ["✿RESULT✿"] })],
    drops: ["✿RESULT✿"],
  },
];

/** The formats in which a call's name stands before its arguments, and those that are mixed with them. */
export const NAME_FORMATS = GRAMMARS.map(grammarFormat);
