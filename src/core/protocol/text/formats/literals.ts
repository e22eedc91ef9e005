import { type BraceCalls, braceBlock } from "../blocks/brace-block.ts";
import { jsonBlock } from "../blocks/json-block.ts";
import { pythonBlock } from "../blocks/python-block.ts";
import type { Grammar, GrammarFormat, Opener } from "../machine/grammar.ts";
import { grammarFormat } from "../machine/grammar-reader.ts";

const LIST: Opener = {
  marker: "[",
  block: pythonBlock({ marker: "[", close: ["<|python_end|>"], declaredOnly: true }),
};
const python = (marker: string, close: string): Opener => ({
  marker,
  block: pythonBlock({ marker, close: [close] }),
});
const GEMMA = { quote: '<|"|>', close: ["<tool_call|>", "<|tool_response>"] };
const brace = (row: BraceCalls): Opener => ({
  marker: row.marker,
  block: braceBlock(row),
  ...(row.isWord && { ambiguous: true }),
});

const GRAMMARS: readonly Grammar[] = [
  {
    names: ["pythonic"],
    openers: [
      python("<|python_start|>", "<|python_end|>"),
      python("<function_calls>", "</function_calls>"),
      LIST,
    ],
  },
  {
    names: ["pythonic_tagged"],
    openers: [
      {
        marker: "<|tool_call_start|>",
        block: jsonBlock({ marker: "<|tool_call_start|>", close: ["<|tool_call_end|>"] }),
      },
      python("<|tool_call_start|>", "<|tool_call_end|>"),
      python("<function_calls>", "</function_calls>"),
    ],
  },
  {
    names: ["gemma_tool_code"],
    openers: [
      {
        marker: "```tool_code",
        block: pythonBlock({ marker: "```tool_code", close: ["```"], declaredOnly: true, code: true }),
        ambiguous: true,
      },
      LIST,
    ],
  },
  {
    names: ["gemma4"],
    reasoning: ["<|channel>thought\n", "<channel|>"],
    byLine: true,
    openers: [
      brace({ marker: "<|tool_call>", ...GEMMA }),
      brace({ marker: "<tool_call:", ...GEMMA }),
      brace({ marker: "call:", ...GEMMA, isWord: true }),
    ],
  },
  {
    names: ["functiongemma"],
    openers: [
      brace({
        marker: "<start_function_call>",
        quote: "<escape>",
        close: ["<end_function_call>", "<start_function_response>"],
      }),
    ],
  },
];

/** The formats in which arguments are written as literals of a programming language, or nearly so. */
export const LITERAL_FORMATS: readonly GrammarFormat[] = GRAMMARS.map(grammarFormat);
