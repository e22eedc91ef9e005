import { chunk, frame, frames } from "./upstream.ts";

/** A provider's stream and what a client has to get out of it. */
export interface ProviderStream {
  name: string;
  /** Bytes of the body. */
  body: string;
  text: string;
  /** What the model refused with, which the AI SDK shows as text. */
  refusal?: string;
  calls: { name: string; args: unknown }[];
}

const DONE = frame("[DONE]");
const ROLE = chunk({ role: "assistant", content: null });
const PARIS = { name: "get_weather", args: { place: "Paris" } };
const OSLO = { name: "get_weather", args: { place: "Oslo" } };
const NOW = { name: "get_time", args: {} };

/** The delta of one tool call. */
const tool = (members: Record<string, unknown>, name: string | undefined, args: unknown): string =>
  chunk({ tool_calls: [{ ...members, function: { ...(name && { name }), arguments: args } }] });

const FINISH = chunk({}, "tool_calls") + DONE;
const TYPE = { type: "function" };

/** Deviations in how the calls are numbered and named. */
const NUMBERS: ProviderStream[] = [
  {
    name: "index from 1",
    body:
      ROLE +
      tool({ index: 1, id: "a", ...TYPE }, "get_weather", "") +
      tool({ index: 1 }, "", '{"place":"Paris"}') +
      FINISH,
    text: "",
    calls: [PARIS],
  },
  {
    name: "index missing",
    body:
      ROLE +
      tool({ id: "a", ...TYPE }, "get_weather", '{"place":') +
      tool({}, undefined, '"Paris"}') +
      tool({ id: "b", ...TYPE }, "get_weather", '{"place":"Oslo"}') +
      FINISH,
    text: "",
    calls: [PARIS, OSLO],
  },
  {
    name: "ids missing",
    body:
      ROLE +
      tool({ index: 0, ...TYPE }, "get_weather", '{"place":"Paris"}') +
      tool({ index: 1, ...TYPE }, "get_weather", '{"place":"Oslo"}') +
      FINISH,
    text: "",
    calls: [PARIS, OSLO],
  },
  {
    name: "ids duplicate",
    body:
      ROLE +
      tool({ index: 0, id: "same", ...TYPE }, "get_weather", '{"place":"Paris"}') +
      tool({ index: 1, id: "same", ...TYPE }, "get_weather", '{"place":"Oslo"}') +
      FINISH,
    text: "",
    calls: [PARIS, OSLO],
  },
  {
    name: "every call under index 0",
    body:
      ROLE +
      tool({ index: 0, id: "a", ...TYPE }, "get_weather", '{"place":"Paris"}') +
      tool({ index: 0, id: "b", ...TYPE }, "get_weather", '{"place":"Oslo"}') +
      FINISH,
    text: "",
    calls: [PARIS, OSLO],
  },
];

/** Deviations in how the arguments come. */
const ARGUMENTS: ProviderStream[] = [
  {
    name: "arguments null, then none",
    body: ROLE + tool({ index: 0, id: "a", ...TYPE }, "get_time", null) + FINISH,
    text: "",
    calls: [NOW],
  },
  {
    name: "arguments empty before a call with some",
    body:
      ROLE +
      tool({ index: 0, id: "a", ...TYPE }, "get_time", "") +
      tool({ index: 1, id: "b", ...TYPE }, "get_weather", '{"place":"Paris"}') +
      FINISH,
    text: "",
    calls: [NOW, PARIS],
  },
  {
    name: "several whole calls in one delta, type and role in every chunk",
    body:
      chunk({
        role: "assistant",
        content: "",
        tool_calls: [PARIS, OSLO].map(({ name, args }, index) => ({
          index,
          id: `c${index}`,
          ...TYPE,
          function: { name, arguments: JSON.stringify(args) },
        })),
      }) + FINISH,
    text: "",
    calls: [PARIS, OSLO],
  },
  {
    name: "interleaved calls",
    body:
      ROLE +
      tool({ index: 0, id: "a", ...TYPE }, "get_weather", "") +
      tool({ index: 1, id: "b", ...TYPE }, "get_weather", "") +
      tool({ index: 1 }, undefined, '{"place":') +
      tool({ index: 0 }, undefined, '{"place":') +
      tool({ index: 1 }, undefined, '"Oslo"}') +
      tool({ index: 0 }, undefined, '"Paris"}') +
      FINISH,
    text: "",
    calls: [PARIS, OSLO],
  },
];

const PARIS_FRAME = tool({ index: 0, id: "a", ...TYPE }, "get_weather", '{"place":"Paris"}');
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

/** Deviations in everything around the calls. */
const SURROUNDINGS: ProviderStream[] = [
  {
    name: "finish_reason repeated, then usage without choices",
    body:
      ROLE +
      PARIS_FRAME +
      chunk({}, "tool_calls") +
      chunk({ content: "" }, "tool_calls") +
      frame({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: USAGE }) +
      DONE,
    text: "",
    calls: [PARIS],
  },
  {
    name: "finish_reason stop with calls",
    body: ROLE + PARIS_FRAME + chunk({}, "stop") + DONE,
    text: "",
    calls: [PARIS],
  },
  {
    name: "comments, role in every chunk",
    body:
      ": PROCESSING\n\n: PROCESSING\n\n" +
      chunk({ role: "assistant", content: "One " }) +
      ": PROCESSING\n\n" +
      chunk({ role: "assistant", content: "two. " }) +
      PARIS_FRAME +
      FINISH,
    text: "One two. ",
    calls: [PARIS],
  },
  {
    name: "reasoning_content",
    body:
      ROLE +
      chunk({ content: null, reasoning_content: "Hm." }) +
      chunk({ content: "So: " }) +
      PARIS_FRAME +
      FINISH,
    text: "So: ",
    calls: [PARIS],
  },
  {
    name: "reasoning_details",
    body:
      chunk({
        role: "assistant",
        content: "",
        reasoning: "Hm.",
        reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }],
      }) +
      chunk({ content: "", reasoning_details: [{ type: "reasoning.encrypted", data: "AAAA", index: 0 }] }) +
      PARIS_FRAME +
      FINISH,
    text: "",
    calls: [PARIS],
  },
  {
    name: "refusal",
    body: ROLE + chunk({ refusal: "I can" }) + chunk({ refusal: "not." }) + chunk({}, "stop") + DONE,
    text: "",
    refusal: "I cannot.",
    calls: [],
  },
  {
    name: "no [DONE]",
    body: frames({ text: "Here. ", calls: [PARIS] })
      .slice(0, -1)
      .join(""),
    text: "Here. ",
    calls: [PARIS],
  },
  {
    name: "message instead of delta",
    body:
      frame({
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: "Whole. ",
              tool_calls: [
                { id: "a", ...TYPE, function: { name: "get_weather", arguments: '{"place":"Paris"}' } },
              ],
            },
            finish_reason: "tool_calls",
          },
        ],
      }) + DONE,
    text: "Whole. ",
    calls: [PARIS],
  },
];

/** One stream for each deviation from the OpenAI API that providers are known for. */
export const QUIRKY_STREAMS: readonly ProviderStream[] = [...NUMBERS, ...ARGUMENTS, ...SURROUNDINGS];
