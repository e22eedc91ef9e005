import { type CallParts, callObject, type PromptRow, type Surround } from "./format.ts";

const nameAndArguments = callObject("name", "arguments");
const nameAndParameters = callObject("name", "parameters");
const toolNameAndArguments = callObject("tool_name", "arguments");

const LIST: Surround = { open: "[", between: ", ", close: "]" };

function listIn(open: string, close: string): Surround {
  return { ...LIST, open: `${open}[`, close: `]${close}` };
}

function fenced(text: string): string {
  return `\`\`\`json\n${text}\n\`\`\``;
}

/** Formats whose calls are JSON objects that hold the name too. */
export const OBJECT_ROWS: readonly PromptRow[] = [
  {
    names: ["hermes"],
    call: (call) => `<tool_call>\n${nameAndArguments(call)}\n</tool_call>`,
    markup: ["<tool_call>", "</tool_call>"],
  },
  {
    names: ["granite"],
    call: nameAndArguments,
    calls: listIn("<|tool_call|>", ""),
    list: { open: "<|available_tools|>[", between: ",\n", close: "]" },
    markup: ["<|tool_call|>", "<tool_call>", "<function_call>", "<|available_tools|>"],
  },
  {
    names: ["minimax_m1"],
    call: nameAndArguments,
    calls: { open: "<tool_calls>\n", between: "\n", close: "\n</tool_calls>" },
    markup: ["<tool_calls>", "</tool_calls>"],
  },
  {
    names: ["tool_calls_array"],
    call: nameAndArguments,
    calls: listIn("<tool_calls>", "</tool_calls>"),
    markup: ["<tool_calls>", "</tool_calls>"],
  },
  {
    names: ["mistral"],
    call: nameAndArguments,
    calls: listIn("[TOOL_CALLS]", ""),
    list: { open: "[AVAILABLE_TOOLS][", between: ", ", close: "][/AVAILABLE_TOOLS]" },
    result: ({ name, content }) =>
      `[TOOL_RESULTS]{"name": ${JSON.stringify(name)}, "content": ${content}}[/TOOL_RESULTS]`,
    markup: [
      ...["[TOOL_CALLS]", "[/TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"],
      ...["[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[ARGS]", "[CALL_ID]"],
    ],
  },
  {
    names: ["llama3_json"],
    call: nameAndParameters,
    notes: ["own_lines"],
    markup: ["<|python_tag|>", "<|python_start|>", "<|python_end|>", "<function="],
  },
  {
    names: ["phi4_functools"],
    call: nameAndArguments,
    calls: listIn("functools", ""),
    markup: ["functools["],
  },
  {
    names: ["command_r"],
    call: ({ name, args, place }) =>
      `{"tool_call_id": "${place}", "tool_name": ${JSON.stringify(name)}, "parameters": ${args}}`,
    calls: listIn("<|START_ACTION|>", "<|END_ACTION|>"),
    result: ({ place, content }) =>
      `{"tool_call_id": "${place}", "results": {"0": ${content}}, "is_error": null}`,
    results: listIn("<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"),
    markup: [
      ...["<|START_ACTION|>", "<|END_ACTION|>", "<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"],
      ...["<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"],
      ...["<|START_TEXT|>", "<|END_TEXT|>"],
    ],
  },
  {
    names: ["internlm"],
    call: (call) => `<|action_start|><|plugin|>${nameAndParameters(call)}<|action_end|>`,
    markup: ["<|action_start|>", "<|plugin|>", "<|interpreter|>", "<|action_end|>"],
  },
  {
    names: ["xlam"],
    call: nameAndArguments,
    calls: LIST,
    notes: ["own_lines"],
    markup: ["[TOOL_CALLS]", "<tool_call>", "</tool_call>"],
  },
  {
    names: ["apertus"],
    call: ({ name, args }) => `{${JSON.stringify(name)}: ${args}}`,
    calls: listIn("<|tools_prefix|>", "<|tools_suffix|>"),
    markup: ["<|tools_prefix|>", "<|tools_suffix|>"],
  },
];

/** Formats that no model knows by itself. */
export const PROMPTED_ROWS: readonly PromptRow[] = [
  {
    names: ["bare_json"],
    call: toolNameAndArguments,
    notes: ["own_lines"],
    promptOnly: true,
    markup: [],
  },
  {
    names: ["fenced_json"],
    call: (call) => fenced(toolNameAndArguments(call)),
    promptOnly: true,
    markup: [],
    escapedInJson: ["```"],
  },
  {
    names: ["tool_call_hook"],
    call: ({ thought, name, args }: CallParts) =>
      `{"thought": ${JSON.stringify(thought ?? "")}, "tool_name": ${JSON.stringify(name)}, "arguments": ${args}}`,
    notes: ["own_lines", "thought"],
    thought: true,
    promptOnly: true,
    markup: [],
  },
  {
    names: ["react"],
    call: ({ thought, name, args }) =>
      `${thought === undefined ? "" : `Thought: ${thought}\n`}Action: ${name}\nAction Input: ${args}`,
    oneCall: true,
    result: ({ content }) => `Observation: ${content}`,
    notes: ["thought", "no_observation", "final_answer"],
    stop: ["Observation:"],
    thought: true,
    promptOnly: true,
    markup: ["Action:", "Action Input:", "Observation:", "Final Answer:"],
  },
];
