import { JsonParser } from "../../core/json/parser.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import { spellWhole } from "../../core/schema/place.ts";
import type { Run } from "../run-state.ts";
import { askModel } from "./ask.ts";
import type { Reply } from "./reply-content.ts";

/** Characters of the cut call that are quoted to the model; of a longer one, its end. */
const QUOTED = 32 * 1024;

/**
 * After a reply that `length` cut off inside a call of a gateway tool, the model is asked once in the run to complete it. Returns
 * the reply to go on with.
 *
 * 1. An answer whose text continues the arguments, or repeats them whole, completes the call; that text is no answer to the
 *    client and never reaches it.
 * 2. A fresh call replaces what was cut off. Any other text is the model's answer.
 * 3. What is cut off again, or was cut off where a client's call was part of it, stays cut off: nothing of it runs.
 */
export async function continueCut(run: Run, cut: Reply): Promise<Reply> {
  const call = cutCall(run, cut);
  if (!call) return cut;
  run.continued = true;
  const before = run.messages;
  run.messages = [...before, ...cutMessages(run, cut, call)];
  run.answer.hold();
  let shown = false;
  try {
    const next = await askModel(run);
    const reply = joinReplies(cut, call, next);
    shown = reply.textShown;
    return reply;
  } finally {
    run.messages = before;
    run.answer.release(shown);
  }
}

function cutCall(run: Run, reply: Reply): ToolCall | undefined {
  if (run.continued || run.lastRound) return undefined;
  const mine = reply.calls.every((call) => run.offer.owner(call.name) === "gateway" && !call.tooLong);
  return mine ? reply.calls.at(-1) : undefined;
}

function joinReplies(cut: Reply, call: ToolCall, next: Reply): Reply & { textShown: boolean } {
  const text = contentOf(next.toMessage([]));
  const before = contentOf(cut.toMessage([]));
  if (next.calls.length > 0 || text === "") {
    const toMessage = (calls: readonly ToolCall[]): ChatMessage => {
      const message = next.toMessage(calls);
      return { ...message, content: before + contentOf(message) || null };
    };
    return { ...next, toMessage, textShown: true };
  }
  const raw = joinArguments(call.raw, text);
  if (raw !== undefined) {
    const calls = [...cut.calls.slice(0, -1), { ...call, raw }];
    return { ...cut, finish: "tool_calls", calls, usage: next.usage, textShown: false };
  }
  const stillOpen = next.finish === "length" && parse(call.raw + text).status === "open";
  return { ...next, textShown: !stillOpen };
}

function contentOf({ content }: ChatMessage): string {
  return typeof content === "string" ? content : "";
}

const OPENING_FENCE = /^```\w*\n/;
/** What closes more than the arguments: an object around them, a fence, the call's markup in the model's own format. */
const CLOSERS = /^[\s}\]]*(?:```\s*)?(?:<[^<>\s]{1,64}>\s*)*$/;

/** The whole argument text, if the model's text continues the cut one or repeats it from its beginning. */
function joinArguments(raw: string, text: string): string | undefined {
  const bare = text.trim();
  const inFence = bare.replace(OPENING_FENCE, "");
  for (const joined of [raw + text, raw + bare, bare, raw + inFence, inFence]) {
    const object = objectText(joined);
    if (object !== undefined) return object;
  }
  return undefined;
}

function objectText(text: string): string | undefined {
  const end = text.trimStart().startsWith("{") ? parse(text).completeAt : -1;
  return end > 0 && CLOSERS.test(text.slice(end)) ? text.slice(0, end) : undefined;
}

function parse(text: string): JsonParser {
  const parser = new JsonParser();
  parser.push(text);
  return parser;
}

/** What the model said, as far as an upstream can read it again, and what it is asked. */
function cutMessages(run: Run, cut: Reply, call: ToolCall): ChatMessage[] {
  const said = cut.toMessage([]);
  const path = parse(call.raw).openPath;
  const quoted = call.raw.length > QUOTED ? `…${call.raw.slice(-QUOTED)}` : call.raw;
  const note: ChatMessage = { role: "user", content: NOTE[run.locale](call.name, quoted, spellWhole(path)) };
  return contentOf(said) === "" ? [note] : [{ role: "assistant", content: said.content }, note];
}

const NOTE = {
  en: (name: string, raw: string, path: string) =>
    `Your last reply was cut off by the length limit inside the call of ${name}; nothing was run. ` +
    `Its arguments so far: ${raw}\n${path === "" ? "" : `The parameter "${path}" was still open. `}` +
    "Either send only the rest of the JSON, exactly from where it stops, or make the call again, shorter if you can.",
  zh: (name: string, raw: string, path: string) =>
    `上一次回复在调用 ${name} 时因长度限制（length）被截断，未执行任何操作。已收到的参数：${raw}\n` +
    `${path === "" ? "" : `参数“${path}”尚未写完。`}请只发送剩余的 JSON（从截断处继续），或重新发起调用（尽量简短）。`,
};
