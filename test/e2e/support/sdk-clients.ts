import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { AIMessageChunk } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

/** What a program that uses a client library got out of one streamed answer (with `runTools`: of the whole conversation). */
export interface Got {
  text: string;
  calls: { name: string; args: unknown }[];
}

export interface SdkRequest {
  /** The gateway's address without `/v1`. */
  url: string;
  model: string;
  /** Names of the client's own tools. */
  tools: readonly string[];
  headers: Record<string, string>;
}

const PROMPT = "Go.";
const DESCRIPTION = "Does what its name says.";
const PARAMETERS = { type: "object", properties: {}, additionalProperties: true };

function openai({ url, headers }: SdkRequest): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-client", maxRetries: 0, defaultHeaders: headers });
}

function openaiBody({ model, tools }: SdkRequest) {
  const declared = tools.map((name) => ({
    type: "function" as const,
    function: { name, description: DESCRIPTION, parameters: PARAMETERS },
  }));
  return {
    model,
    messages: [{ role: "user" as const, content: PROMPT }],
    stream: true as const,
    ...(declared.length > 0 && { tools: declared }),
  };
}

/** `chat.completions.create`, put together by index as the API reference shows it. */
async function openaiRaw(request: SdkRequest): Promise<Got> {
  let text = "";
  const calls: { name: string; args: string }[] = [];
  for await (const chunk of await openai(request).chat.completions.create(openaiBody(request))) {
    const delta = chunk.choices[0]?.delta;
    text += delta?.content ?? "";
    for (const { index, function: piece } of delta?.tool_calls ?? []) {
      calls[index] ??= { name: "", args: "" };
      calls[index].name += piece?.name ?? "";
      calls[index].args += piece?.arguments ?? "";
    }
  }
  return { text, calls: calls.map(({ name, args }) => ({ name, args: JSON.parse(args) })) };
}

/** `chat.completions.stream`, which accumulates the completion itself. */
async function openaiStream(request: SdkRequest): Promise<Got> {
  const completion = await openai(request).chat.completions.stream(openaiBody(request)).finalChatCompletion();
  const message = completion.choices[0]?.message;
  const calls = (message?.tool_calls ?? []).flatMap((call) =>
    call.type === "function" ? [{ name: call.function.name, args: JSON.parse(call.function.arguments) }] : [],
  );
  return { text: message?.content ?? "", calls };
}

/** `chat.completions.runTools`: the library calls the functions and goes on until the model has answered. */
async function openaiRunTools(request: SdkRequest): Promise<Got> {
  const calls: Got["calls"] = [];
  const runnable = (name: string) => ({
    type: "function" as const,
    function: {
      name,
      description: DESCRIPTION,
      parameters: PARAMETERS,
      function: (args: string) => {
        calls.push({ name, args: JSON.parse(args) });
        return "done";
      },
    },
  });
  const runner = openai(request).chat.completions.runTools({
    ...openaiBody(request),
    tools: [...request.tools, "tool_of_the_runner"].map(runnable),
  });
  let text = "";
  runner.on("content", (delta) => {
    text += delta;
  });
  await runner.done();
  return { text, calls };
}

/** `streamText` of the AI SDK with its provider for compatible servers. */
async function aiSdk({ url, model, tools, headers }: SdkRequest): Promise<Got> {
  const provider = createOpenAICompatible({
    name: "gateway",
    baseURL: `${url}/v1`,
    apiKey: "sk-client",
    headers,
  });
  const declared = tools.map((name) => [
    name,
    tool({ description: DESCRIPTION, inputSchema: jsonSchema<unknown>({ type: "object" }) }),
  ]);
  const result = streamText({
    model: provider.chatModel(model),
    prompt: PROMPT,
    maxRetries: 0,
    onError: () => {},
    tools: Object.fromEntries(declared),
  });
  const got: Got = { text: "", calls: [] };
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") got.text += part.text;
    if (part.type === "tool-call") {
      if (part.invalid) throw part.error;
      got.calls.push({ name: part.toolName, args: part.input });
    }
  }
  return got;
}

/** `ChatOpenAI` of LangChain, streamed and concatenated. */
async function langchain(request: SdkRequest): Promise<Got> {
  const { url, model, headers } = request;
  const chat = new ChatOpenAI({
    model,
    apiKey: "sk-client",
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: `${url}/v1`, defaultHeaders: headers },
  });
  const bound = request.tools.length > 0 ? chat.bindTools(openaiBody(request).tools ?? []) : chat;
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await bound.stream(PROMPT)) whole = whole ? whole.concat(chunk) : chunk;
  if (whole?.invalid_tool_calls?.length) throw new Error(JSON.stringify(whole.invalid_tool_calls));
  return {
    text: whole?.text ?? "",
    calls: (whole?.tool_calls ?? []).map(({ name, args }) => ({ name, args })),
  };
}

/** Real client libraries by name. Each throws whatever the library throws. */
export const CLIENTS: Readonly<Record<string, (request: SdkRequest) => Promise<Got>>> = {
  "openai create": openaiRaw,
  "openai stream": openaiStream,
  "openai runTools": openaiRunTools,
  ai: aiSdk,
  langchain,
};
