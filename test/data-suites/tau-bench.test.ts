import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { complete } from "../e2e/support/client.ts";
import { type Gateway, registerTool, startGateway } from "../e2e/support/gateway.ts";
import { type ScriptedServer, scriptedServer } from "../e2e/support/scripted-server.ts";
import { json } from "../e2e/support/tool-server.ts";
import { type ScriptedUpstream, scriptedUpstream, whole } from "../e2e/support/upstream.ts";
import { sharedRows, skipWithout } from "./shared-rows.ts";

const PATH = "data/tools/tau_bench_gpt4o_airline_trajectories.jsonl.gz";
const TOOLS = new URL("../../../shared/data/tools/tau_bench_tasks.json.gz", import.meta.url);

interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content?: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

interface Conversation {
  id: string;
  messages: Message[];
}

/** A call of a conversation and what the tool said to it. */
interface Step {
  name: string;
  args: unknown;
  answer: string;
}

const rows = sharedRows<Conversation>(PATH);
const skip = skipWithout(existsSync(TOOLS) ? rows : undefined, PATH);

/** Conversations that are played at the same time. */
const AT_ONCE = 8;
const WRITES = /^(?:book|cancel|update|send)_/;

/** The recorded calls in order, each with the tool message that follows it: ids come twice in this data. */
function stepsOf({ messages }: Conversation): Step[] {
  return messages.flatMap(({ tool_calls: calls = [] }, at) =>
    calls.map((call, index) => ({
      name: call.function.name,
      args: JSON.parse(call.function.arguments),
      answer: messages[at + 1 + index]?.content ?? "",
    })),
  );
}

/** Tools that check what they get against the conversation of the session, and answer what is on record. */
function toolsOf(t: TestContext, left: Map<string, Step[]>): Promise<ScriptedServer<unknown>> {
  return scriptedServer(t, ({ url, headers, body }) => {
    const session = String(headers["x-toolweir-session"]);
    const step = left.get(session)?.shift();
    assert.deepEqual([url.slice(1), body], [step?.name, step?.args], session);
    const answer = step?.answer ?? "";
    return answer.startsWith("Error") ? json({ error: answer }, 422) : { body: [answer] };
  });
}

async function registerAirline(gateway: Gateway, url: string): Promise<void> {
  const { tools } = JSON.parse(gunzipSync(readFileSync(TOOLS)).toString());
  for (const { function: tool } of tools.airline) {
    await registerTool(gateway, tool.name, {
      url: `${url}/${tool.name}`,
      description: tool.description,
      parameters: tool.parameters,
      ...(WRITES.test(tool.name) && { level: "write", confirm: "never" }),
    });
  }
}

/** What the model says after the last tool message of a conversation that ends with one. */
const END: Message = { role: "assistant", content: "(end)" };

/** The messages of a conversation, in turns that begin with the user's. */
function turnsOf({ messages }: Conversation): Message[][] {
  const whole = messages.at(-1)?.role === "tool" ? [...messages, END] : messages;
  const turns: Message[][] = [];
  for (const message of whole) {
    if (message.role === "user") turns.push([message]);
    else turns.at(-1)?.push(message);
  }
  return turns.filter((turn) => turn.length > 1);
}

const replyOf = ({ content, tool_calls: calls }: Message) =>
  whole({
    ...(content && { text: content }),
    ...(calls && {
      calls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, args })),
    }),
  });

/** Plays a conversation, user message by user message, and checks every answer that the client gets. */
async function play(upstream: ScriptedUpstream, gateway: Gateway, conversation: Conversation): Promise<void> {
  const { id } = conversation;
  const turns = turnsOf(conversation);
  upstream.script(
    id,
    turns.flatMap((turn) => turn.filter(({ role }) => role === "assistant").map(replyOf)),
  );
  const messages: Message[] = conversation.messages.slice(0, 1);
  for (const [user, ...rest] of turns) {
    if (user) messages.push(user);
    const { status, body } = await complete(gateway, { model: id, messages }, { "x-toolweir-session": id });
    assert.equal(status, 200, `${id}: ${JSON.stringify(body)}`);
    const said = rest.map(({ role, content }) => (role === "assistant" ? (content ?? "") : "")).join("");
    const { message, finish_reason: finish } = body.choices[0];
    assert.deepEqual(
      [message.content ?? "", finish, body.toolweir.stop_reason],
      [said, "stop", "completed"],
      id,
    );
    messages.push({ role: "assistant", content: said });
  }
}

test("recorded conversations of an agent come to their end with exactly the recorded calls", {
  skip,
}, async (t) => {
  const conversations = rows ?? [];
  const left = new Map(conversations.map((one) => [one.id, stepsOf(one)]));
  const calls = [...left.values()].flat().length;
  const upstream = await scriptedUpstream(t);
  const tools = await toolsOf(t, left);
  const gateway = await startGateway(t, {
    upstream: upstream.baseUrl,
    yaml: "limits: { rounds: 50, tool_calls: 50 }\nselection: { max_tools: 20 }",
  });
  await registerAirline(gateway, tools.url);
  const queue = [...conversations];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await play(upstream, gateway, next);
    }),
  );
  const open = [...left].filter(([, steps]) => steps.length > 0).map(([id]) => id);
  assert.deepEqual(open, [], "every recorded call was made");
  t.diagnostic(`${conversations.length} conversations, ${calls} calls`);
  assert.ok(calls > 1_000);
});
