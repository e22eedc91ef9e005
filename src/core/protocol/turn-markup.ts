/**
 * Strings of which models' chat templates make turns, roles, thoughts and tool results. Many servers read them as special tokens
 * wherever they stand. Those of `<|name|>` and `<｜name｜>` go by their beginning.
 */
const MARKERS: readonly string[] = [
  ...[
    "<|",
    "<｜",
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<unk>",
    "<pad>",
    "<sop>",
    "[gMASK]",
    "]<]",
    "]~b]",
    "]~!b[",
  ],
  ...["<start_of_turn>", "<end_of_turn>", "<turn|>", "<channel|>"],
  ...["<start_function_", "<end_function_", "<escape>"],
  ...["<tools>", "</tools>", "<tool_call", "</tool_call", "<tool_response", "</tool_response"],
  ...["<think>", "</think>", "<seed:", "</seed:", "<minimax:", "</minimax:"],
  ...["[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"],
  ...["[TOOL_CALLS]", "[/TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CONTENT]"],
  ...["[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"],
];

/** Characters that a reader does not see or that turn text around: DEL and C1 controls, marks of direction, tag characters. */
const HIDDEN = String.raw`[\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]`;

const UNSAFE = new RegExp([...firstCharacters(), HIDDEN].join("|"), "gu");

/** Only the first character is matched, so that markers which overlap are all found. */
function firstCharacters(): string[] {
  const behind = new Map<string, string[]>();
  for (const marker of MARKERS) {
    const [first = "", ...rest] = marker;
    behind.set(first, [...(behind.get(first) ?? []), RegExp.escape(rest.join(""))]);
  }
  return [...behind].map(([first, rests]) => `${RegExp.escape(first)}(?=${rests.join("|")})`);
}

/**
 * A JSON text in which no string holds the markup of a chat template or a hidden character: each is spelt with `\uXXXX`. It reads back
 * as the same value.
 */
export function withoutTurnMarkup(json: string): string {
  return json.replace(UNSAFE, (found) =>
    Array.from({ length: found.length }, (_, at) => escaped(found.charCodeAt(at))).join(""),
  );
}

const escaped = (code: number) => `\\u${code.toString(16).padStart(4, "0")}`;
