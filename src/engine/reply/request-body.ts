import { type RawMember, rawMembers, withReplaced } from "../../core/json/raw-object.ts";
import { isObject } from "../../core/protocol/adapter.ts";
import { promptFormatFor } from "../../core/protocol/text/prompt/formats.ts";
import type { ChatMessage } from "../../core/protocol/wire.ts";
import { repetitionHint, withInstruction } from "../hints.ts";
import type { UpstreamTarget } from "../ports/upstream.ts";
import type { Run } from "../run-state.ts";
import { promptedBody } from "./prompted-body.ts";

/**
 * The body of a run's next upstream request.
 *
 * 1. The client's own bytes where there is nothing to add, and those with `tools` at their end where that is all there is to add.
 * 2. Else its members as they were spelled, every digit of them, in its order; `tools`, `tool_choice` and the turns of this run are
 *    added. The conversation the client sent is never written anew, unless kept turns were put back into it.
 * 3. Where a budget needs to know what a stream uses and the client did not ask, `stream_options.include_usage` is added.
 * 4. For an upstream without tool support, what `promptedBody` makes of it.
 */
export function requestBody(run: Run, target: Pick<UpstreamTarget, "protocol" | "tools">): Buffer | string {
  const { request, offer } = run;
  const messages = instructed(run);
  if (target.tools === "prompt") {
    const changed = toolChoice(run);
    const choice: unknown = changed === undefined ? request.tool_choice : JSON.parse(changed);
    return promptedBody(
      run,
      { messages, options: streamOptions(run) },
      promptFormatFor(target.protocol, request.model),
      choice,
    );
  }
  const options = streamOptions(run);
  if (messages === request.messages && options === undefined) {
    if (offer.gateway.size === 0) return run.raw;
    if (request.tools === undefined && toolChoice(run) === undefined) return withTools(run.raw, offer.added);
  }
  const replaced = new Map<string, string>();
  if (options !== undefined) replaced.set("stream_options", options);
  const members = rawMembers(run.raw);
  if (messages !== request.messages) replaced.set("messages", messagesText(run, messages, members));
  if (offer.gateway.size > 0) {
    replaced.set("tools", toolsText(run, members));
    const choice = toolChoice(run);
    if (choice !== undefined) replaced.set("tool_choice", choice);
  }
  return withReplaced(run.raw, members, replaced);
}

/** The most frequent case, without a look at the members: nothing is replaced, and `tools` goes before the last brace. */
function withTools(raw: Buffer, added: readonly string[]): Buffer {
  return Buffer.concat([
    raw.subarray(0, raw.lastIndexOf("}")),
    Buffer.from(`,"tools":[${added.join(",")}]}`),
  ]);
}

/** With the usage asked for, as JSON text; `undefined` leaves them as they came. */
function streamOptions({ request, spend }: Run): string | undefined {
  if (!spend?.isMetered || request.stream !== true) return undefined;
  const options = request.stream_options ?? {};
  return options.include_usage === true ? undefined : JSON.stringify({ ...options, include_usage: true });
}

/** The conversation, with what the model is told besides once it repeats itself. */
function instructed({ messages, loops, deps, locale }: Run): ChatMessage[] {
  return deps.hints && loops.hasRepeated ? withInstruction(messages, repetitionHint(locale)) : messages;
}

function messagesText(run: Run, messages: readonly ChatMessage[], members: readonly RawMember[]): string {
  const sent = run.request.messages;
  const [last, repeated] = members.filter(({ name }) => name === "messages");
  const grown = sent.every((message: ChatMessage, index: number) => messages[index] === message);
  if (!grown || !last || repeated) return JSON.stringify(messages);
  const added = messages.slice(sent.length).map((message) => JSON.stringify(message));
  return `${run.raw.toString("utf8", last.valueFrom, last.to - 1)},${added.join(",")}]`;
}

function toolsText({ request, raw, offer }: Run, members: readonly RawMember[]): string {
  const own = request.tools?.length ? members.findLast(({ name }) => name === "tools") : undefined;
  const texts = own ? [raw.toString("utf8", own.valueFrom + 1, own.to - 1), ...offer.added] : offer.added;
  return `[${texts.join(",")}]`;
}

/** What the client's choice becomes, as JSON text; `undefined` leaves it as it came. A forced choice holds for the first round. */
function toolChoice({ request, round, lastRound, isResumed }: Run): string | undefined {
  if (lastRound) return '"none"';
  if (round === 1 && !isResumed) return undefined;
  const choice = request.tool_choice;
  if (choice === "required") return '"auto"';
  if (!isObject(choice)) return undefined;
  return choice["type"] === "allowed_tools" ? unforced(choice) : '"auto"';
}

/** An allow-list of tools stays; its `required` is a force. */
function unforced(choice: Record<string, unknown>): string | undefined {
  const list = choice["allowed_tools"];
  if (!isObject(list) || list["mode"] !== "required") return undefined;
  return JSON.stringify({ ...choice, allowed_tools: { ...list, mode: "auto" } });
}
