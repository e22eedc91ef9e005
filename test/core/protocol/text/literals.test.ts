import { readSamples, type Sample } from "./read-samples.ts";

const python: Sample[] = [
  {
    title: "literals of Python and JSON, with and without names",
    format: "pythonic",
    text: "So: [plan('x', +1_0, note=None, big={'a': .5, 'b': (1,)}, list=[true, 1.]), ping()] done",
    calls: [
      ["plan", '{"city": "x", "days": 10, "note": null, "big": {"a": 0.5, "b": [1]}, "list": [true, 1.0]}'],
      ["ping", "{}"],
    ],
    content: "So:  done",
  },
  {
    title: "strings in all their quotes",
    format: "pythonic",
    text: `[plan(city=r'C:\\n', note="""a "b"\n""", list='x' "y\\u00e9\\x41")]`,
    calls: [["plan", '{"city": "C:\\\\n", "note": "a \\"b\\"\\n", "list": "xyéA"}']],
  },
  {
    title: "only calls of declared names, and nothing but calls, make a list of them",
    format: "pythonic",
    text: "[nope()] [ping] [ping() first] [plan(city)] ['ping()'] `[ping()]`",
    content: "[nope()] [ping] [ping() first] [plan(city)] ['ping()'] `[ping()]`",
  },
  {
    title: "a string that was cut off",
    format: "pythonic",
    text: "[plan(days=3, city='a\\'b",
    calls: [["plan", '{"days": 3, "city": "a\'b', "…"]],
  },
  {
    title: "in its tags any name is a call",
    format: "pythonic_tagged",
    text: "<|tool_call_start|>[nope(a=1), ping()]<|tool_call_end|>So.",
    calls: [
      ["nope", '{"a": 1}'],
      ["ping", "{}"],
    ],
    content: "So.",
  },
  {
    title: "code around a call goes with it",
    format: "gemma_tool_code",
    text: "```tool_code\nx = default_api.plan(city='a')\nprint(x)\n```\nSo.",
    calls: [["plan", '{"city": "a"}']],
    content: "\nSo.",
  },
];

const braces: Sample[] = [
  {
    title: "words in no quotes have the types of their schema",
    format: "gemma4",
    text: '<|tool_call>call:plan{city:12,days:12,note:null,big:{a:true,b:1.50,c:free text},list:[1,"a\\n"]}<tool_call|>',
    calls: [
      [
        "plan",
        '{"city": "12", "days": 12, "note": null, "big": {"a": true, "b": 1.50, "c": "free text"}, "list": [1, "a\\n"]}',
      ],
    ],
  },
  {
    title: "a call without its marker must be whole and declared",
    format: "gemma4",
    text: 'call:ping{}\ncall:nope{}\nI call:ping{}\ncall:write{path:<|"|>a',
    calls: [["ping", "{}"]],
    content: '\ncall:nope{}\nI call:ping{}\ncall:write{path:<|"|>a',
  },
  {
    title: "cut off in a string, and in a name",
    format: "gemma4",
    text: '<|tool_call>call:ping{}<tool_call|><|tool_call>call:write{path:<|"|>a\\',
    calls: [
      ["ping", "{}"],
      ["write", '{"path": "a\\\\', "…"],
    ],
  },
  {
    title: "quotes of its own",
    format: "functiongemma",
    text: '<start_function_call>call:write{path:<escape>"a"\\n}<escape>}<end_function_call>',
    calls: [["write", '{"path": "\\"a\\"\\\\n}"}']],
  },
];

readSamples([...python, ...braces]);
