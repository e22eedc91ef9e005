import { readSamples, type Sample } from "./read-samples.ts";

const harmony: Sample[] = [
  {
    title: "channels go their ways, and tokens hide in no fence",
    format: "harmony",
    text: '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>commentary<|message|>```\nSee `x`<|end|><|start|>assistant to=functions.write<|channel|>commentary json<|message|>{"path": "<|call|>"}<|call|>',
    calls: [["write", '{"path": "<|call|>"}']],
    content: "```\nSee `x`",
    reasoning: "Hm.\nSo.",
  },
  {
    title: "a reply may begin within its first header",
    format: "harmony",
    text: " to=functions.ping<|channel|>commentary<|message|>{}",
    calls: [["ping", "{}"]],
  },
  {
    title: "arguments without the token before them, and arguments that are no JSON",
    format: "harmony",
    text: '<|channel|>commentary to=functions.write {"path": "a"}<|call|><|start|>assistant<|channel|>commentary to=python<|message|>print(1)\n<|call|>',
    calls: [
      ["write", '{"path": "a"}'],
      ["python", "print(1)"],
    ],
  },
  {
    title: "a header that does not end is none",
    format: "harmony",
    text: `<|channel|>analysis ${"so on ".repeat(60)}<|end|><|start|>user<|message|>Hi<|end|>`,
    reasoning: "so on ".repeat(60),
  },
  {
    title: "text that speaks of recipients is text",
    format: "harmony",
    text: "to=be or not to=be",
    content: "to=be or not to=be",
  },
];

const react: Sample[] = [
  {
    title: "white space before a thought is none of it",
    format: "react",
    text: "Thought: \n  I know.\nFinal Answer: x",
    reasoning: "I know.\n",
    content: "x",
  },
  {
    title: "text for the one string that is required",
    format: "react",
    text: "Thought: a\nb\nAction: write\nAction Input: it's\n  here\nObservation: made up\nAction: ping",
    calls: [["write", '{"path":"it\'s\\n  here"}']],
    reasoning: "a\nb\n",
  },
  {
    title: "an action needs no input where nothing is required",
    format: "react",
    text: "Action: ping\n\nAction: `ping`\nAction Input:\nThought: done",
    calls: [
      ["ping", "{}"],
      ["ping", "{}"],
    ],
    reasoning: "done",
  },
  {
    title: "labels of nothing, and in the middle of a line, are text",
    format: "react",
    text: "Action: nope\nObservation: it rains\nAn Action: ping\nAction: write",
    content: "Action: nope\nObservation: it rains\nAn Action: ping\nAction: write",
  },
  {
    title: "JSON that was cut off, with a label in a string",
    format: "react",
    text: 'Action: write\nAction Input: {"path": "a\\nAction: ping',
    calls: [["write", '{"path": "a\\nAction: ping', "…"]],
  },
];

readSamples([...harmony, ...react]);
