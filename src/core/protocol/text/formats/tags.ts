import { type NamedTags, namedTags } from "../blocks/named-tags.ts";
import { nestedTags } from "../blocks/nested-tags.ts";
import { pairedTags } from "../blocks/paired-tags.ts";
import { taggedOpeners } from "../blocks/tagged.ts";
import type { Grammar, GrammarFormat, Opener } from "../machine/grammar.ts";
import { grammarFormat } from "../machine/grammar-reader.ts";
import { TOOL_CALL } from "./json.ts";

const named = (row: NamedTags): Opener[] => taggedOpeners(namedTags(row));

/** `<function=NAME><parameter=KEY>` in a wrapper. */
const functions = (wrapper: string): Opener[] =>
  named({ wrappers: [wrapper], call: "function", parameter: "parameter", assign: "=", frame: "lines" });

/** `<invoke name="NAME"><parameter name="KEY">` in one of several wrappers, with something before the names of the tags. */
const invokes = (wrappers: readonly string[], prefix = "", eos?: string): Opener[] =>
  named({
    wrappers: wrappers.map((wrapper) => prefix + wrapper),
    call: `${prefix}invoke`,
    parameter: `${prefix}parameter`,
    assign: " name=",
    eos,
  });

/** One token with its bars, as models write it. */
const DSML = ["｜DSML｜", "|DSML|", "｜｜DSML｜｜"];

const GRAMMARS: readonly Grammar[] = [
  { names: ["qwen3_coder"], openers: [...functions("tool_call"), TOOL_CALL] },
  {
    names: ["seed_oss"],
    reasoning: ["<seed:think>", "</seed:think>"],
    openers: functions("seed:tool_call"),
  },
  { names: ["minimax_m2"], openers: invokes(["minimax:tool_call"]) },
  {
    names: ["anthropic_xml"],
    openers: ["", "antml:"].flatMap((prefix) => invokes(["function_calls"], prefix)),
  },
  {
    names: ["deepseek_dsml"],
    openers: DSML.flatMap((token) =>
      invokes(["function_calls", "tool_calls"], token, "<｜end▁of▁sentence｜>"),
    ),
  },
  {
    names: ["minimax_m3"],
    reasoning: ["<mm:think>", "</mm:think>"],
    openers: taggedOpeners(nestedTags({ token: "]<]minimax[>[", wrapper: "tool_call", call: "invoke" })),
  },
  {
    names: ["minicpm5"],
    openers: named({ wrappers: [], call: "function", parameter: "param", assign: " name=", frame: "cdata" }),
  },
  {
    names: ["step3"],
    drops: ["<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"],
    openers: named({
      wrappers: [{ open: "<｜tool_call_begin｜>function<｜tool_sep｜>", close: "<｜tool_call_end｜>" }],
      call: "steptml:invoke",
      parameter: "steptml:parameter",
      assign: " name=",
    }),
  },
  { names: ["glm4"], openers: [...taggedOpeners(pairedTags([], "tool_call")), TOOL_CALL] },
  { names: ["hy_v3"], openers: taggedOpeners(pairedTags(["tool_calls"], "tool_call")) },
];

/** The formats with a tag for each parameter. */
export const TAG_FORMATS: readonly GrammarFormat[] = GRAMMARS.map(grammarFormat);
