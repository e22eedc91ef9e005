import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the scripted model answers once it has the results. The examples of the documents print it. */
const ANSWER = "It is 21 °C in Paris.";

/** The arguments with which the scripted model calls a tool. It calls every offered tool that stands here, in this order. */
const CALLS: Readonly<Record<string, unknown>> = {
  get_weather: { latitude: 48.85, longitude: 2.35 },
  show_map: { place: "Paris" },
  cancel_order: { order_id: "A-17" },
};

/** A model server and a tool server in one, for the examples of the documents. */
export interface World {
  /** `http://127.0.0.1:PORT`: the model server's base URL is this and `/v1`. */
  url: string;
  close(): Promise<void>;
}

interface Message {
  role: string;
}

interface Request {
  model: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: Message[];
  tools?: { function: { name: string } }[];
}

/** Starts the scripted servers on a free port. */
export async function startWorld(): Promise<World> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "").split("?")[0];
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  if (path === "/v1/chat/completions") chat(JSON.parse(Buffer.concat(parts).toString()) as Request, response);
  else if (path === "/v1/models")
    sendJson(response, { object: "list", data: [{ id: "gpt-4.1-mini", object: "model" }] });
  else if (path === "/v1/forecast") sendJson(response, { current: { temperature_2m: 21 } });
  else sendJson(response, { done: true });
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

function chat(body: Request, response: ServerResponse): void {
  const answered = body.messages.at(-1)?.role === "tool";
  const names = (body.tools ?? []).map((tool) => tool.function.name);
  const calls = answered ? [] : Object.entries(CALLS).filter(([name]) => names.includes(name));
  const message = {
    role: "assistant",
    content: calls.length > 0 ? null : ANSWER,
    ...(calls.length > 0 && {
      tool_calls: calls.map(([name, args], index) => ({
        id: `call_${index + 1}`,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      })),
    }),
  };
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  if (body.stream) stream(body, message, finish, response);
  else {
    sendJson(response, {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_790_000_000,
      model: body.model,
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: USAGE,
    });
  }
}

const USAGE = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };

interface Said {
  content: string | null;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
}

function stream(body: Request, message: Said, finish: string, response: ServerResponse): void {
  const chunk = (delta: unknown, reason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    send({ choices });
  };
  const send = (members: object): void => {
    const head = {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1_790_000_000,
      model: body.model,
    };
    response.write(`data: ${JSON.stringify({ ...head, ...members })}\n\n`);
  };
  response.setHeader("content-type", "text/event-stream");
  chunk({ role: "assistant", content: "" }, null);
  for (const word of message.content?.match(/\S+\s*/g) ?? []) chunk({ content: word }, null);
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }] }, null);
    for (const piece of call.function.arguments.match(/.{1,8}/gs) ?? []) {
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] }, null);
    }
  }
  chunk({}, finish);
  if (body.stream_options?.include_usage) send({ choices: [], usage: USAGE });
  response.end("data: [DONE]\n\n");
}
