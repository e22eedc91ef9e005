import { JOINED, type PromptRow, type Surround } from "./format.ts";

const DEEPSEEK_CALLS: Surround = {
  open: "<｜tool▁calls▁begin｜>",
  between: "\n",
  close: "<｜tool▁calls▁end｜>",
};
const DEEPSEEK: Pick<PromptRow, "calls" | "result" | "results" | "markup"> = {
  calls: DEEPSEEK_CALLS,
  result: ({ content }) => `<｜tool▁output▁begin｜>${content}<｜tool▁output▁end｜>`,
  results: { open: "<｜tool▁outputs▁begin｜>", between: "\n", close: "<｜tool▁outputs▁end｜>" },
  // The bar and the gap of the tokens in all the spellings in which they are seen.
  markup: ["<｜tool▁", "<｜tool_", "<|tool▁", "<|tool_"],
};

/** Kimi's own ids say name and number; another provider's id would teach the model a wrong form. */
function kimiId({ id, name, index }: { id: string; name: string; index: number }): string {
  const own = id.startsWith(`functions.${name}:`) && /:\d+$/u.test(id);
  return own ? id : `functions.${name}:${index}`;
}

/** Formats with the name in the markup and JSON behind it. */
export const NAME_ROWS: readonly PromptRow[] = [
  {
    names: ["deepseek_v3"],
    ...DEEPSEEK,
    call: ({ name, args }) =>
      `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${args}\n\`\`\`<｜tool▁call▁end｜>`,
    escapedInJson: ["```"],
  },
  {
    names: ["deepseek_v31"],
    ...DEEPSEEK,
    call: ({ name, args }) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${args}<｜tool▁call▁end｜>`,
  },
  {
    names: ["kimi_k2"],
    call: (call) =>
      `<|tool_call_begin|>${kimiId(call)}<|tool_call_argument_begin|>${call.args}<|tool_call_end|>`,
    calls: { open: "<|tool_calls_section_begin|>", between: "", close: "<|tool_calls_section_end|>" },
    result: (result) => `## Return of ${kimiId(result)}\n${result.content}`,
    markup: ["<|tool_call", "## Return of "],
  },
  {
    names: ["functionary_v31"],
    call: ({ name, args }) => `<function=${name}>${args}</function>`,
    markup: ["<function=", "</function>", "<|python_tag|>"],
  },
  {
    names: ["functionary_v32"],
    call: ({ name, args }) => `>>>${name}\n${args}`,
    markup: [">>>"],
  },
  {
    names: ["functionary_v2"],
    call: ({ name, args }) => `<|from|>assistant\n<|recipient|>${name}\n<|content|>${args}`,
    markup: ["<|from|>", "<|recipient|>", "<|content|>", "<|stop|>"],
  },
  {
    names: ["harmony"],
    call: ({ name, args }) =>
      `<|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${args}<|call|>`,
    calls: JOINED,
    result: ({ name, content }) =>
      `<|start|>functions.${name} to=assistant<|channel|>commentary<|message|>${content}<|end|>`,
    results: JOINED,
    markup: [
      ...["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>"],
      ...["<|end|>", "<|call|>", "<|return|>"],
    ],
  },
  {
    names: ["inkling"],
    call: ({ name, args }) =>
      `<|message_model|>${name}<|content_invoke_tool_json|>{"name": ${JSON.stringify(name)}, "args": ${args}}<|end_message|>`,
    calls: JOINED,
    markup: ["<|message_model|>", "<|content_invoke_tool_json|>", "<|end_message|>"],
  },
  {
    names: ["qwen_flower"],
    call: ({ name, args }) => `✿FUNCTION✿: ${name}\n✿ARGS✿: ${args}`,
    result: ({ content }) => `✿RESULT✿: ${content}`,
    stop: ["✿RESULT✿"],
    markup: ["✿FUNCTION✿", "✿ARGS✿", "✿RESULT✿", "✿RETURN✿"],
  },
];
