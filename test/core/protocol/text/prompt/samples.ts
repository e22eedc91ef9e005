/** The results in the formats that have no form of their own for them. */
const RESULTS = `<tool_response>
{"name": "get_weather", "content": {"t":5}}
</tool_response>
<tool_response>
{"name": "ping", "content": "pong"}
</tool_response>`;

/**
 * In each format: two calls made in one message, `get_weather` with `{"city":"Oslo","days":[1,null],"now":true}` after the
 * thought "Why." and `ping` without arguments, and their results, `{"t":5}` and the text "pong"; one entry a message.
 */
export const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  // Objects with the name in them
  hermes: [
    `<tool_call>
{"name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}
</tool_call>
<tool_call>
{"name": "ping", "arguments": {}}
</tool_call>`,
    RESULTS,
  ],
  granite: [
    `<|tool_call|>[{"name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}, {"name": "ping", "arguments": {}}]`,
    RESULTS,
  ],
  minimax_m1: [
    `<tool_calls>
{"name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}
{"name": "ping", "arguments": {}}
</tool_calls>`,
    RESULTS,
  ],
  tool_calls_array: [
    `<tool_calls>[{"name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}, {"name": "ping", "arguments": {}}]</tool_calls>`,
    RESULTS,
  ],
  mistral: [
    `[TOOL_CALLS][{"name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}, {"name": "ping", "arguments": {}}]`,
    `[TOOL_RESULTS]{"name": "get_weather", "content": {"t":5}}[/TOOL_RESULTS]
[TOOL_RESULTS]{"name": "ping", "content": "pong"}[/TOOL_RESULTS]`,
  ],
  llama3_json: [
    `{"name": "get_weather", "parameters": {"city":"Oslo","days":[1,null],"now":true}}
{"name": "ping", "parameters": {}}`,
    RESULTS,
  ],
  phi4_functools: [
    `functools[{"name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}, {"name": "ping", "arguments": {}}]`,
    RESULTS,
  ],
  command_r: [
    `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city":"Oslo","days":[1,null],"now":true}}, {"tool_call_id": "1", "tool_name": "ping", "parameters": {}}]<|END_ACTION|>`,
    `<|START_TOOL_RESULT|>[{"tool_call_id": "0", "results": {"0": {"t":5}}, "is_error": null}, {"tool_call_id": "1", "results": {"0": "pong"}, "is_error": null}]<|END_TOOL_RESULT|>`,
  ],
  internlm: [
    `<|action_start|><|plugin|>{"name": "get_weather", "parameters": {"city":"Oslo","days":[1,null],"now":true}}<|action_end|>
<|action_start|><|plugin|>{"name": "ping", "parameters": {}}<|action_end|>`,
    RESULTS,
  ],
  xlam: [
    `[{"name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}, {"name": "ping", "arguments": {}}]`,
    RESULTS,
  ],
  apertus: [
    `<|tools_prefix|>[{"get_weather": {"city":"Oslo","days":[1,null],"now":true}}, {"ping": {}}]<|tools_suffix|>`,
    RESULTS,
  ],
  // The name in the markup, JSON behind it
  deepseek_v3: [
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
\`\`\`json
{"city":"Oslo","days":[1,null],"now":true}
\`\`\`<｜tool▁call▁end｜>
<｜tool▁call▁begin｜>function<｜tool▁sep｜>ping
\`\`\`json
{}
\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    `<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{"t":5}<｜tool▁output▁end｜>
<｜tool▁output▁begin｜>"pong"<｜tool▁output▁end｜><｜tool▁outputs▁end｜>`,
  ],
  deepseek_v31: [
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Oslo","days":[1,null],"now":true}<｜tool▁call▁end｜>
<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    `<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{"t":5}<｜tool▁output▁end｜>
<｜tool▁output▁begin｜>"pong"<｜tool▁output▁end｜><｜tool▁outputs▁end｜>`,
  ],
  kimi_k2: [
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city":"Oslo","days":[1,null],"now":true}<|tool_call_end|><|tool_call_begin|>functions.ping:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`,
    `## Return of functions.get_weather:0
{"t":5}
## Return of functions.ping:1
"pong"`,
  ],
  functionary_v31: [
    `<function=get_weather>{"city":"Oslo","days":[1,null],"now":true}</function>
<function=ping>{}</function>`,
    RESULTS,
  ],
  functionary_v32: [
    `>>>get_weather
{"city":"Oslo","days":[1,null],"now":true}
>>>ping
{}`,
    RESULTS,
  ],
  functionary_v2: [
    `<|from|>assistant
<|recipient|>get_weather
<|content|>{"city":"Oslo","days":[1,null],"now":true}
<|from|>assistant
<|recipient|>ping
<|content|>{}`,
    RESULTS,
  ],
  harmony: [
    `<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Oslo","days":[1,null],"now":true}<|call|><|start|>assistant<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}<|call|>`,
    `<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>{"t":5}<|end|><|start|>functions.ping to=assistant<|channel|>commentary<|message|>"pong"<|end|>`,
  ],
  inkling: [
    `<|message_model|>get_weather<|content_invoke_tool_json|>{"name": "get_weather", "args": {"city":"Oslo","days":[1,null],"now":true}}<|end_message|><|message_model|>ping<|content_invoke_tool_json|>{"name": "ping", "args": {}}<|end_message|>`,
    RESULTS,
  ],
  qwen_flower: [
    `✿FUNCTION✿: get_weather
✿ARGS✿: {"city":"Oslo","days":[1,null],"now":true}
✿FUNCTION✿: ping
✿ARGS✿: {}`,
    `✿RESULT✿: {"t":5}
✿RESULT✿: "pong"`,
  ],
  // A tag for each parameter
  qwen3_coder: [
    `<tool_call>
<function=get_weather>
<parameter=city>
Oslo
</parameter>
<parameter=days>
[1,null]
</parameter>
<parameter=now>
true
</parameter>
</function>
</tool_call>
<tool_call>
<function=ping>
</function>
</tool_call>`,
    RESULTS,
  ],
  seed_oss: [
    `<seed:tool_call>
<function=get_weather>
<parameter=city>
Oslo
</parameter>
<parameter=days>
[1,null]
</parameter>
<parameter=now>
true
</parameter>
</function>
</seed:tool_call>
<seed:tool_call>
<function=ping>
</function>
</seed:tool_call>`,
    RESULTS,
  ],
  glm4: [
    `<tool_call>get_weather
<arg_key>city</arg_key>
<arg_value>Oslo</arg_value>
<arg_key>days</arg_key>
<arg_value>[1,null]</arg_value>
<arg_key>now</arg_key>
<arg_value>true</arg_value>
</tool_call>
<tool_call>ping
</tool_call>`,
    RESULTS,
  ],
  hy_v3: [
    `<tool_calls>
<tool_call>get_weather<tool_sep>
<arg_key>city</arg_key>
<arg_value>Oslo</arg_value>
<arg_key>days</arg_key>
<arg_value>[1,null]</arg_value>
<arg_key>now</arg_key>
<arg_value>true</arg_value>
</tool_call>
<tool_call>ping<tool_sep>
</tool_call>
</tool_calls>`,
    RESULTS,
  ],
  minimax_m2: [
    `<minimax:tool_call>
<invoke name="get_weather">
<parameter name="city">Oslo</parameter>
<parameter name="days">[1,null]</parameter>
<parameter name="now">true</parameter>
</invoke>
<invoke name="ping">
</invoke>
</minimax:tool_call>`,
    `<response>{"t":5}</response>
<response>"pong"</response>`,
  ],
  anthropic_xml: [
    `<function_calls>
<invoke name="get_weather">
<parameter name="city">Oslo</parameter>
<parameter name="days">[1,null]</parameter>
<parameter name="now">true</parameter>
</invoke>
<invoke name="ping">
</invoke>
</function_calls>`,
    `<function_results>
<result>
<tool_name>get_weather</tool_name>
<stdout>{"t":5}</stdout>
</result>
<result>
<tool_name>ping</tool_name>
<stdout>"pong"</stdout>
</result>
</function_results>`,
  ],
  deepseek_dsml: [
    `<｜DSML｜function_calls>
<｜DSML｜invoke name="get_weather">
<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>
<｜DSML｜parameter name="days" string="false">[1,null]</｜DSML｜parameter>
<｜DSML｜parameter name="now" string="false">true</｜DSML｜parameter>
</｜DSML｜invoke>
<｜DSML｜invoke name="ping">
</｜DSML｜invoke>
</｜DSML｜function_calls>`,
    `<function_results>
<result>{"t":5}</result>
<result>"pong"</result>
</function_results>`,
  ],
  minicpm5: [
    `<function name="get_weather"><param name="city"><![CDATA[Oslo]]></param><param name="days"><![CDATA[[1,null]]]></param><param name="now"><![CDATA[true]]></param></function>
<function name="ping"></function>`,
    RESULTS,
  ],
  kimi_k3: [
    `<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|><|open|>argument key="days" type="array"<|sep|>[1,null]<|close|>argument<|sep|><|open|>argument key="now" type="boolean"<|sep|>true<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="ping" index="2"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`,
    RESULTS,
  ],
  step3: [
    `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather"><steptml:parameter name="city">Oslo</steptml:parameter><steptml:parameter name="days">[1,null]</steptml:parameter><steptml:parameter name="now">true</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="ping"></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>`,
    RESULTS,
  ],
  minimax_m3: [
    `]<]minimax[>[<tool_call>
]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Oslo]<]minimax[>[</city>]<]minimax[>[<days>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[<item>null]<]minimax[>[</item>]<]minimax[>[</days>]<]minimax[>[<now>true]<]minimax[>[</now>]<]minimax[>[</invoke>
]<]minimax[>[<invoke name="ping">]<]minimax[>[</invoke>
]<]minimax[>[</tool_call>`,
    RESULTS,
  ],
  // Literals of their own
  pythonic: [`[get_weather(city="Oslo", days=[1, None], now=True), ping()]`, RESULTS],
  pythonic_tagged: [
    `<function_calls>
get_weather(city="Oslo", days=[1, None], now=True)
ping()
</function_calls>`,
    RESULTS,
  ],
  gemma_tool_code: [
    `\`\`\`tool_code
get_weather(city="Oslo", days=[1, None], now=True)
ping()
\`\`\``,
    `\`\`\`tool_output
{"t":5}
\`\`\`
\`\`\`tool_output
"pong"
\`\`\``,
  ],
  gemma4: [
    `<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>,days:[1,null],now:true}<tool_call|><|tool_call>call:ping{}<tool_call|>`,
    `<|tool_response>response:get_weather{value:{"t":5}}<tool_response|><|tool_response>response:ping{value:"pong"}<tool_response|>`,
  ],
  functiongemma: [
    `<start_function_call>call:get_weather{city:<escape>Oslo<escape>,days:[1,null],now:true}<end_function_call><start_function_call>call:ping{}<end_function_call>`,
    `<start_function_response>response:get_weather{value:{"t":5}}<end_function_response><start_function_response>response:ping{value:"pong"}<end_function_response>`,
  ],
  // Known from a prompt only
  bare_json: [
    `{"tool_name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}
{"tool_name": "ping", "arguments": {}}`,
    RESULTS,
  ],
  fenced_json: [
    `\`\`\`json
{"tool_name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}
\`\`\`
\`\`\`json
{"tool_name": "ping", "arguments": {}}
\`\`\``,
    RESULTS,
  ],
  tool_call_hook: [
    `{"thought": "Why.", "tool_name": "get_weather", "arguments": {"city":"Oslo","days":[1,null],"now":true}}
{"thought": "", "tool_name": "ping", "arguments": {}}`,
    RESULTS,
  ],
  react: [
    `Thought: Why.
Action: get_weather
Action Input: {"city":"Oslo","days":[1,null],"now":true}`,
    `Observation: {"t":5}`,
    `Action: ping
Action Input: {}`,
    `Observation: "pong"`,
  ],
};
