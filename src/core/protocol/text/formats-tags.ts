import { type Grammar, type GrammarFormat, grammarFormat } from "./grammar.ts";
import { namedTags } from "./named-tags.ts";
import { nestedTags } from "./nested-tags.ts";
import { pairedTags } from "./paired-tags.ts";

import { taggedOpeners } from "./tagged.ts";

const BARS = ["｜DSML｜", "|DSML|", "｜｜DSML｜｜"];

/** Formats that write a tag for each parameter. */
const GRAMMARS: readonly Grammar[] = [
  {
    names: ["qwen3_coder"],
    openers: taggedOpeners(
      namedTags({
        wrappers: ["tool_call"],
        call: "function",
        parameter: "parameter",
        assign: "=",
        frame: "lines",
      }),
    ),
  },
  {
    names: ["seed_oss"],
    reasoning: ["<seed:think>", "</seed:think>"],
    openers: taggedOpeners(
      namedTags({
        wrappers: ["seed:tool_call"],
        call: "function",
        parameter: "parameter",
        assign: "=",
        frame: "lines",
      }),
    ),
  },
  {
    names: ["minimax_m2"],
    openers: taggedOpeners(
      namedTags({
        wrappers: ["minimax:tool_call"],
        call: "invoke",
        parameter: "parameter",
        assign: " name=",
      }),
    ),
  },
  {
    names: ["anthropic_xml"],
    openers: taggedOpeners(
      namedTags({ wrappers: ["function_calls"], call: "invoke", parameter: "parameter", assign: " name=" }),
    ),
  },
  {
    names: ["deepseek_dsml"],
    openers: BARS.flatMap((bars) =>
      taggedOpeners(
        namedTags({
          wrappers: [`${bars}function_calls`, `${bars}tool_calls`],
          call: `${bars}invoke`,
          parameter: `${bars}parameter`,
          assign: " name=",
          eos: "<｜end▁of▁sentence｜>",
        }),
      ),
    ),
  },
  {
    names: ["minimax_m3"],
    reasoning: ["<mm:think>", "</mm:think>"],
    openers: taggedOpeners(nestedTags({ token: "]<]minimax[>[", wrapper: "tool_call", call: "invoke" })),
  },
  {
    names: ["minicpm5"],
    openers: taggedOpeners(
      namedTags({ wrappers: [], call: "function", parameter: "param", assign: " name=", frame: "cdata" }),
    ),
  },
  {
    names: ["step3"],
    drops: ["<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"],
    openers: taggedOpeners(
      namedTags({
        wrappers: [{ open: "<｜tool_call_begin｜>function<｜tool_sep｜>", close: "<｜tool_call_end｜>" }],
        call: "steptml:invoke",
        parameter: "steptml:parameter",
        assign: " name=",
      }),
    ),
  },
  { names: ["glm4"], openers: taggedOpeners(pairedTags([], "tool_call")) },
  { names: ["hy_v3"], openers: taggedOpeners(pairedTags(["tool_calls"], "tool_call")) },
];

export const TAG_FORMATS: readonly GrammarFormat[] = GRAMMARS.map(grammarFormat);
