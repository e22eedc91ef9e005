import { JOINED, type PromptRow, type Surround } from "./format.ts";
import { braceArguments, nestedTags, pythonArguments, taggedArguments } from "./spelling.ts";

const FUNCTION_TAGS = ["<function=", "</function>", "<parameter=", "</parameter>"];
const INVOKE_TAGS = ["<invoke", "</invoke>", "<parameter", "</parameter>"];
const RESULT_TAGS = ["<function_results>", "</function_results>", "<result>", "</result>"];

const functionParameters = taggedArguments(
  "</parameter>",
  ({ key, text }) => `<parameter=${key}>\n${text}\n</parameter>\n`,
);
const invokeParameters = taggedArguments(
  "</parameter>",
  ({ key, text }) => `<parameter name="${key}">${text}</parameter>\n`,
);
const glmParameters = taggedArguments(
  "</arg_value>",
  ({ key, text }) => `<arg_key>${key}</arg_key>\n<arg_value>${text}</arg_value>\n`,
);
const dsmlParameters = taggedArguments(
  "</｜DSML｜parameter>",
  ({ key, text, isString }) =>
    `<｜DSML｜parameter name="${key}" string="${isString}">${text}</｜DSML｜parameter>\n`,
);
const kimiArguments = taggedArguments(
  "<|close|>argument",
  ({ key, text, type }) =>
    `<|open|>argument key="${key}" type="${type}"<|sep|>${text}<|close|>argument<|sep|>`,
);

/** `<function=NAME>` within an outer tag. */
function functionRow(name: string, tag: string): PromptRow {
  return {
    names: [name],
    spell: functionParameters,
    call: (call) => `<${tag}>\n<function=${call.name}>\n${call.args}</function>\n</${tag}>`,
    notes: ["text_values"],
    markup: [`<${tag}>`, `</${tag}>`, ...FUNCTION_TAGS],
  };
}

function within(tag: string): Surround {
  return { open: `<${tag}>\n`, between: "\n", close: `\n</${tag}>` };
}

/** `<invoke name="NAME">` within an outer tag for all calls. */
function invokeRow(
  name: string,
  tag: string,
  rest: Pick<PromptRow, "result" | "results" | "markup">,
): PromptRow {
  return {
    names: [name],
    spell: invokeParameters,
    call: (call) => `<invoke name="${call.name}">\n${call.args}</invoke>`,
    calls: within(tag),
    notes: ["text_values"],
    ...rest,
    markup: [`<${tag}>`, `</${tag}>`, ...INVOKE_TAGS, ...rest.markup],
  };
}

/** Formats with a tag for each parameter. */
export const TAGGED_ROWS: readonly PromptRow[] = [
  functionRow("qwen3_coder", "tool_call"),
  functionRow("seed_oss", "seed:tool_call"),
  {
    names: ["glm4"],
    spell: glmParameters,
    call: ({ name, args }) => `<tool_call>${name}\n${args}</tool_call>`,
    notes: ["text_values"],
    markup: ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
  },
  {
    names: ["hy_v3"],
    spell: glmParameters,
    call: ({ name, args }) => `<tool_call>${name}<tool_sep>\n${args}</tool_call>`,
    calls: within("tool_calls"),
    notes: ["text_values"],
    markup: [
      ...["<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>", "<tool_sep>"],
      ...["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
    ],
  },
  invokeRow("minimax_m2", "minimax:tool_call", {
    result: ({ content }) => `<response>${content}</response>`,
    markup: ["<response>", "</response>"],
  }),
  invokeRow("anthropic_xml", "function_calls", {
    result: ({ name, content }) =>
      `<result>\n<tool_name>${name}</tool_name>\n<stdout>${content}</stdout>\n</result>`,
    results: within("function_results"),
    markup: [...RESULT_TAGS, "<stdout>", "</stdout>"],
  }),
  {
    names: ["deepseek_dsml"],
    spell: dsmlParameters,
    call: ({ name, args }) => `<｜DSML｜invoke name="${name}">\n${args}</｜DSML｜invoke>`,
    calls: within("｜DSML｜function_calls"),
    result: ({ content }) => `<result>${content}</result>`,
    results: within("function_results"),
    notes: ["text_values"],
    markup: ["<｜DSML｜", "</｜DSML｜", "<|DSML|", "</|DSML|", ...RESULT_TAGS],
  },
  {
    names: ["minicpm5"],
    spell: taggedArguments("]]>", ({ key, text }) => `<param name="${key}"><![CDATA[${text}]]></param>`),
    call: ({ name, args }) => `<function name="${name}">${args}</function>`,
    notes: ["text_values"],
    markup: ["<function name=", "</function>", "<param name=", "</param>", "]]>"],
  },
  {
    names: ["kimi_k3"],
    spell: kimiArguments,
    call: ({ name, args, place }) =>
      `<|open|>call tool="${name}" index="${place + 1}"<|sep|>${args}<|close|>call<|sep|>`,
    calls: { open: "<|open|>tools<|sep|>", between: "", close: "<|close|>tools<|sep|>" },
    notes: ["text_values"],
    markup: ["<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"],
  },
  {
    names: ["step3"],
    spell: taggedArguments(
      "</steptml:parameter>",
      ({ key, text }) => `<steptml:parameter name="${key}">${text}</steptml:parameter>`,
    ),
    call: ({ name, args }) =>
      `<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="${name}">${args}</steptml:invoke><｜tool_call_end｜>`,
    calls: { open: "<｜tool_calls_begin｜>", between: "", close: "<｜tool_calls_end｜>" },
    notes: ["text_values"],
    markup: ["<｜tool_", "<steptml:", "</steptml:"],
  },
  {
    names: ["minimax_m3"],
    spell: nestedTags("]<]minimax[>["),
    call: ({ name, args }) => `]<]minimax[>[<invoke name="${name}">${args}]<]minimax[>[</invoke>`,
    calls: {
      open: "]<]minimax[>[<tool_call>\n",
      between: "\n",
      close: "\n]<]minimax[>[</tool_call>",
    },
    notes: ["text_values"],
    markup: ["]<]minimax[>["],
  },
];

const PYTHON: Pick<PromptRow, "spell" | "call"> = {
  spell: pythonArguments,
  call: ({ name, args }) => `${name}(${args})`,
};

/** Formats with literals of their own. */
export const LITERAL_ROWS: readonly PromptRow[] = [
  {
    names: ["pythonic"],
    ...PYTHON,
    calls: { open: "[", between: ", ", close: "]" },
    notes: ["own_lines"],
    markup: ["<|python_start|>", "<|python_end|>", "<|tool_call_start|>", "<|tool_call_end|>"],
  },
  {
    names: ["pythonic_tagged"],
    ...PYTHON,
    calls: within("function_calls"),
    markup: ["<function_calls>", "</function_calls>"],
  },
  {
    names: ["gemma_tool_code"],
    ...PYTHON,
    calls: { open: "```tool_code\n", between: "\n", close: "\n```" },
    result: ({ content }) => `\`\`\`tool_output\n${content}\n\`\`\``,
    promptOnly: true,
    markup: ["```tool_code", "```tool_output"],
    escapedInJson: ["```"],
  },
  {
    names: ["gemma4"],
    spell: braceArguments('<|"|>'),
    call: ({ name, args }) => `<|tool_call>call:${name}${args}<tool_call|>`,
    calls: JOINED,
    result: ({ name, content }) => `<|tool_response>response:${name}{value:${content}}<tool_response|>`,
    results: JOINED,
    notes: ["brace_quotes"],
    markup: ["<|tool_call>", "<tool_call:", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>'],
  },
  {
    names: ["functiongemma"],
    spell: braceArguments("<escape>"),
    call: ({ name, args }) => `<start_function_call>call:${name}${args}<end_function_call>`,
    calls: JOINED,
    result: ({ name, content }) =>
      `<start_function_response>response:${name}{value:${content}}<end_function_response>`,
    results: JOINED,
    notes: ["brace_quotes"],
    markup: [
      ...["<start_function_call>", "<end_function_call>", "<escape>"],
      ...["<start_function_response>", "<end_function_response>"],
    ],
  },
];
