import { readSamples, type Sample } from "./read-samples.ts";

const parameter = (key: string, value: string) => `<parameter=${key}>\n${value}\n</parameter>\n`;
const call = (name: string, inside: string) =>
  `<tool_call>\n<function=${name}>\n${inside}</function>\n</tool_call>`;
const ping = call("ping", "");
const invoke = (name: string, inside: string) => `<invoke name="${name}">${inside}</invoke>`;

const whole: Sample[] = [
  {
    title: "values have the types of their schema",
    format: "qwen3_coder",
    text: call(
      "plan",
      parameter("city", "0051") +
        parameter("days", "12345678901234567890") +
        parameter("note", "null") +
        parameter("big", "{'a': (1, None), 'b': 0x1F}") +
        parameter("list", "[1, 2]") +
        parameter("more", "true"),
    ),
    calls: [
      [
        "plan",
        '{"city": "0051", "days": 12345678901234567890, "note": null, "big": {"a": [1, null], "b": 31}, "list": [1, 2], "more": "true"}',
      ],
    ],
  },
  {
    title: "a whole call within a value belongs to the value",
    format: "qwen3_coder",
    text: call(
      "write",
      parameter("path", "a") + parameter("body", `Use\n${call("ping", parameter("x", "1"))}\nso`),
    ),
    calls: [
      [
        "write",
        '{"path": "a", "body": "Use\\n<tool_call>\\n<function=ping>\\n<parameter=x>\\n1\\n</parameter>\\n</function>\\n</tool_call>\\nso"}',
      ],
    ],
  },
  {
    title: "what is no structure behind it does not close a value",
    format: "minimax_m2",
    text: `<minimax:tool_call>${invoke("write", '<parameter name="path">a</parameter> b </minimax:tool_call> <b></parameter>')}</minimax:tool_call> So.`,
    calls: [["write", '{"path": "a</parameter> b </minimax:tool_call> <b>"}']],
    content: " So.",
  },
  {
    title: "tags of tags",
    format: "minimax_m3",
    text: "@<tool_call>@<invoke name='plan'>@<city>x@</city>@<list>@<item>1@</item>@<item>2@</item>@</list>@<big>@<a>t@</a>@</big>@</invoke>@</tool_call>".replaceAll(
      "@",
      "]<]minimax[>[",
    ),
    calls: [["plan", '{"city": "x", "list": [1, 2], "big": {"a": "t"}}']],
  },
  {
    title: "a name between marks",
    format: "step3",
    text: 'Ok.<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="write"><steptml:parameter name="path">a</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
    calls: [["write", '{"path": "a"}']],
    content: "Ok.",
  },
  {
    title: "a section of raw text",
    format: "minicpm5",
    text: '<function name="write"><param name="path"><![CDATA[<a>]]></param></function>',
    calls: [["write", '{"path": "<a>"}']],
  },
  {
    title: "what the attribute says goes before the schema",
    format: "deepseek_dsml",
    text: '<｜DSML｜tool_calls><｜DSML｜invoke name="plan"><｜DSML｜parameter name="days" string="true">3</｜DSML｜parameter><｜DSML｜parameter name="city" string="false">[1]</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>',
    calls: [["plan", '{"days": "3", "city": [1]}']],
  },
  {
    title: "one parameter that holds them all",
    format: "deepseek_dsml",
    text: '<｜DSML｜invoke name="write"><｜DSML｜parameter name="arguments" string="false">{"path": "a"}</｜DSML｜parameter></｜DSML｜invoke>',
    calls: [["write", '{"path": "a"}']],
  },
];

const repaired: Sample[] = [
  {
    title: "a value that nothing closes ends with its call",
    format: "qwen3_coder",
    text: `<tool_call>\n<function=write>\n<parameter=path>\na\n</function>\n</tool_call>\n${ping} So.`,
    calls: [
      ["write", '{"path": "a"}'],
      ["ping", "{}"],
    ],
    content: " So.",
  },
  {
    title: "a name without its bracket, and a call without its end",
    format: "qwen3_coder",
    text: `<tool_call>\n<function=write\n${parameter("path", "a")}<tool_call>\n<function=ping></function>`,
    calls: [
      ["write", '{"path": "a"}'],
      ["ping", "{}"],
    ],
  },
  {
    title: "text in place of parameters is told as it is",
    format: "qwen3_coder",
    text: "<tool_call><function=write>the file</function></tool_call>",
    calls: [["write", "the file"]],
  },
  {
    title: "JSON in the marks of the family",
    format: "qwen3_coder",
    text: '<tool_call>{"name": "write", "arguments": {"path": "a"}}</tool_call>',
    calls: [["write", '{"path": "a"}']],
  },
  {
    title: "a name that runs into that of the first parameter",
    format: "glm4",
    text: "<tool_call>writepath</arg_key><arg_value>a</arg_value></tool_call>",
    calls: [["write", '{"path": "a"}']],
  },
  {
    title: "a written line end behind the name, doubled marks, JSON",
    format: "glm4",
    text: '<tool_call>write\\n<arg_key><arg_key>path</arg_key></arg_key><arg_value>a</arg_value></tool_call><tool_call>write {"path": "b"}</tool_call>',
    calls: [
      ["write", '{"path": "a"}'],
      ["write", '{"path": "b"}'],
    ],
  },
];

const refused: Sample[] = [
  {
    title: "a mention is text",
    format: "qwen3_coder",
    text: "Begin with <tool_call><function=ping> or <function=write><parameter=path>, then stop.",
    content: "Begin with <tool_call><function=ping> or <function=write><parameter=path>, then stop.",
  },
  {
    title: "an example in a code fence is text",
    format: "qwen3_coder",
    text: `\`\`\`xml\n${ping}\n\`\`\`\nSo.`,
    content: `\`\`\`xml\n${ping}\n\`\`\`\nSo.`,
  },
  {
    title: "without its wrapper a call needs all that is required",
    format: "qwen3_coder",
    text: "<function=write></function>",
    content: "<function=write></function>",
  },
  {
    title: "a name that nobody declared is for the model to hear of, in a wrapper",
    format: "qwen3_coder",
    text: `${call("nope", parameter("x", "1"))}<function=nope></function>`,
    calls: [["nope", '{"x": "1"}']],
    content: "<function=nope></function>",
  },
  {
    title: "the next parameter had begun when the reply ended",
    format: "qwen3_coder",
    text: `<tool_call><function=write>${parameter("path", "a")}<para`,
    calls: [["write", '{"path": "a"', "…"]],
  },
  {
    title: "without what is required a call is cut off",
    format: "glm4",
    text: "<tool_call>write<arg_key>body</arg_key><arg_value>a</arg_value>",
    calls: [["write", '{"body": "a"', "…"]],
  },
];

readSamples([...whole, ...repaired, ...refused]);
