import { type WantedCall, wantedCalls } from "./wanted-calls.ts";

/** A message of a conversation, as far as the scripted model reads it. */
export interface Message {
  role: string;
  content?: string | readonly { text?: string }[] | null;
  tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A request body of `POST /v1/chat/completions`, as far as the scripted model reads it. */
export interface ChatBody {
  model: string;
  messages: readonly Message[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: readonly { function?: { name: string } }[];
  tool_choice?: unknown;
}

/** What the model says next: text, then calls. */
export interface Reply {
  text: string;
  calls: readonly { name: string; arguments: string }[];
}

interface AnsweredCall {
  name: string;
  arguments: string;
  success: boolean;
  data: unknown;
  error: string;
}

/** How far the model has come with one of the calls that it wants. */
type Progress = { call: WantedCall } & (
  | { state: "open"; tries: number }
  | { state: "done"; data: unknown }
  | { state: "failed"; error: string }
);

const HELP =
  "I am a scripted model and know three things: the weather in a city, an amount in another currency, and a train " +
  'between two cities. Ask me "What is the weather in Oslo?".';
const TRIES = 3;

/**
 * The scripted model. It has no state: everything it does next follows from the conversation, as with a real one.
 *
 * 1. It calls offered tools, and others only where the user tells it to; all calls of one step at once.
 * 2. When it is told that a parameter has another name, it calls again with that name.
 * 3. When nothing is left to call, it answers with what the tools said.
 */
export function reply(body: ChatBody): Reply {
  const { question, calls } = lastTurn(body.messages);
  const offered = new Set(body.tool_choice === "none" ? [] : body.tools?.map((tool) => tool.function?.name));
  const progress = wantedCalls(question).map((call) => follow(call, calls));
  const mayCall = ({ name, told }: WantedCall) => offered.has(name) || (told && offered.size > 0);
  const open = progress.filter((entry) => entry.state === "open" && mayCall(entry.call));
  const step = Math.min(...open.map(({ call }) => call.step));
  const next = open.filter(({ call }) => call.step === step);
  if (next.length > 0) return { text: announce(next, calls.length > 0), calls: next.map(({ call }) => call) };
  return { text: progress.map(sentence).join(" ") || HELP, calls: [] };
}

// ── The conversation ─────────────────────────────────────────────────────────

function lastTurn(messages: readonly Message[]): { question: string; calls: AnsweredCall[] } {
  const start = messages.findLastIndex((message) => message.role === "user");
  const turn = messages.slice(start + 1);
  const results = new Map(turn.map((message) => [message.tool_call_id, textOf(message)]));
  const calls = turn.flatMap((message) => message.tool_calls ?? []);
  return {
    question: textOf(messages[start]),
    calls: calls.map((call) => ({ ...call.function, ...outcome(results.get(call.id) ?? "") })),
  };
}

function textOf(message: Message | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join(" ");
}

/** The envelope in which the gateway puts results; any other text is the result itself. */
function outcome(text: string): Pick<AnsweredCall, "success" | "data" | "error"> {
  try {
    const { success, data, error } = JSON.parse(text);
    if (typeof success === "boolean") return { success, data, error: String(error ?? "") };
  } catch {
    // Not JSON: the tool of a client may answer with any text.
  }
  return { success: true, data: text, error: "" };
}

function follow(wanted: WantedCall, calls: readonly AnsweredCall[]): Progress {
  let call = wanted;
  let error = "";
  for (let tries = 0; tries < TRIES; tries++) {
    const made = calls.find(({ name, arguments: args }) => name === call.name && args === call.arguments);
    if (!made) return { call, state: "open", tries };
    if (made.success) return { call, state: "done", data: made.data };
    error = made.error;
    const corrected = correct(call, error);
    if (!corrected) break;
    call = corrected;
  }
  return { call, state: "failed", error };
}

/** Does what the gateway's sentence asks for, where that is another name for a parameter. */
function correct(call: WantedCall, error: string): WantedCall | undefined {
  const [, wrong, right] = /you sent "(\w+)", which is not known; did you mean "(\w+)"\?/.exec(error) ?? [];
  if (wrong === undefined || right === undefined) return undefined;
  const args = Object.entries(JSON.parse(call.arguments) as Record<string, unknown>);
  const renamed = args.map(([name, value]) => [name === wrong ? right : name, value]);
  return { ...call, arguments: JSON.stringify(Object.fromEntries(renamed)) };
}

// ── What it says ─────────────────────────────────────────────────────────────

const TOPICS: Readonly<Record<string, string>> = {
  get_weather: "the weather",
  convert_currency: "the exchange rate",
  find_train: "the train",
};

function announce(next: readonly Progress[], later: boolean): string {
  if (next.some((entry) => entry.state === "open" && entry.tries > 0)) return "";
  const topics = [...new Set(next.map(({ call }) => TOPICS[call.name] ?? call.name))].join(" and ");
  return later ? `Now ${topics}.\n\n` : `Let me look up ${topics}.\n\n`;
}

function sentence(entry: Progress): string {
  const { name } = entry.call;
  if (entry.state === "open") return `I would need the tool ${name}, which I was not offered.`;
  if (entry.state === "failed") return `${name} did not help: ${entry.error}`;
  const said = SENTENCES[name]?.(entry.data as Record<string, unknown>);
  return said ?? `${name} says: ${JSON.stringify(entry.data)}`;
}

/** Made from whatever the tool answered: a tool of another shape under the same name gives odd sentences, not errors. */
const SENTENCES: Readonly<Record<string, (data: Record<string, unknown>) => string>> = {
  get_weather: (data) => `In ${data["city"]} it is ${data["temperature_c"]} °C with ${data["sky"]}.`,
  convert_currency: (data) => `${data["amount"]} ${data["from"]} are ${data["result"]} ${data["to"]}.`,
  find_train: (data) =>
    `The ${data["departs"]} train from ${data["from"]} reaches ${data["to"]} at ${data["arrives"]} and costs ` +
    `${data["price_eur"]} EUR.`,
};
