import { CallAccumulator, type OpenCall, type ToolCall } from "../core/protocol/accumulator.ts";
import { nativeAdapter, type ToolFragment } from "../core/protocol/adapter.ts";
import { KeptReply } from "../core/protocol/kept-reply.ts";
import { finishReason, type ReadChunk, readChunk } from "../core/protocol/visible.ts";
import type { ChatChunk, ChatMessage, FinishReason, Usage } from "../core/protocol/wire.ts";
import { GatewayError } from "../errors.ts";
import type { Answer } from "./answer.ts";

/** What is known about the run that a reply belongs to. */
export interface ReplyContext {
  answer: Answer;
  /** Whose a call of this name is. */
  owner(name: string): "gateway" | "client" | "unknown";
  /** Keep what is said for a next round; off where none can follow. */
  keep: boolean;
  maxArgumentLength: number;
  nextCallId(wireId: string | undefined): string;
  onArgument?(call: OpenCall, name: string, value: unknown): void;
}

/** One finished reply of the model. */
export interface Reply {
  finish: FinishReason;
  /** Calls of the first choice, in the model's order. */
  calls: readonly ToolCall[];
  /** The assistant message to send back, with the given calls. */
  toMessage(calls: readonly ToolCall[]): ChatMessage;
  usage: Usage | undefined;
}

interface OpenChoice {
  accumulator: CallAccumulator;
  /** Characters of each client call that are out. */
  sent: Map<OpenCall, number>;
}

/** Understands one reply: what is shown goes to the answer at once, calls gather, the end is judged once. */
export class ReplyContent {
  readonly #context: ReplyContext;
  readonly #choices = new Map<number, OpenChoice>();
  readonly #finish: string[] = [];
  readonly kept = new KeptReply();
  #usage: Usage | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  /** A finish reason has come; more may still follow. */
  get finished(): boolean {
    return this.#finish.length > 0;
  }

  read(chunk: ChatChunk): ReadChunk {
    return readChunk(chunk, () => nativeAdapter);
  }

  /** Returns what the answer says of the frame it wrote. */
  take(chunk: ReadChunk): string | undefined {
    if (chunk.usage) this.#usage = chunk.usage;
    const written = this.#context.answer.takeChunk(chunk);
    for (const choice of chunk.choices) {
      if (choice.index === 0 && this.#context.keep) this.kept.take(choice.said);
      for (const fragment of choice.fragments) this.#takeFragment(choice.index, fragment);
      if (choice.index === 0 && choice.finish !== undefined) this.#finish.push(choice.finish);
    }
    return written;
  }

  /** Judges the whole reply. Throws `upstream_error` when the provider itself says that it failed. */
  end(): Reply {
    if (this.#finish.includes("error"))
      throw new GatewayError("upstream_error", "The upstream ended its reply with an error.");
    for (const [index, choice] of this.#choices) {
      for (const call of choice.accumulator.calls) this.#sendRest(index, choice, call);
    }
    const calls = this.#choices.get(0)?.accumulator.finish() ?? [];
    const reason = finishReason(this.#finish);
    const cut = reason === "length" || reason === "content_filter";
    return {
      finish: cut ? reason : calls.length > 0 ? "tool_calls" : "stop",
      calls,
      toMessage: (list) => this.kept.toMessage(list),
      usage: this.#usage,
    };
  }

  #takeFragment(index: number, fragment: ToolFragment): void {
    const choice = this.#choices.get(index) ?? this.#openChoice(index);
    const call = choice.accumulator.push(fragment);
    if (fragment.text === "" || !this.#goesOut(call.name)) return;
    if (choice.sent.has(call)) this.#send(index, choice, call, fragment.text);
    else this.#sendUpTo(index, choice, call);
  }

  /** The client numbers calls as they come: those that began before this one go out before it, with or without arguments. */
  #sendUpTo(index: number, choice: OpenChoice, last: OpenCall): void {
    for (const call of choice.accumulator.calls) {
      if (!choice.sent.has(call) && this.#goesOut(call.name))
        this.#send(index, choice, call, call.fragments.join(""));
      if (call === last) return;
    }
  }

  /** A call without arguments has not gone out, for its name could still have grown, unless another one followed. */
  #sendRest(index: number, choice: OpenChoice, call: OpenCall): void {
    if (choice.sent.get(call) || !this.#goesOut(call.name)) return;
    this.#send(index, choice, call, call.fragments.join("") || (call.kind === "custom" ? "" : "{}"));
  }

  #send(index: number, choice: OpenChoice, call: OpenCall, text: string): void {
    choice.sent.set(call, (choice.sent.get(call) ?? 0) + text.length);
    this.#context.answer.takeCall(index, { call, text });
  }

  #goesOut(name: string): boolean {
    return name !== "" && this.#context.owner(name) === "client";
  }

  #openChoice(index: number): OpenChoice {
    const { maxArgumentLength, nextCallId, onArgument } = this.#context;
    const accumulator = new CallAccumulator({
      maxLength: maxArgumentLength,
      nextId: nextCallId,
      ...(onArgument && {
        onValue: (call: OpenCall, path: readonly (string | number)[], value: unknown) => {
          if (path.length === 1 && this.#context.owner(call.name) === "gateway")
            onArgument(call, String(path[0]), value);
        },
      }),
    });
    const choice = { accumulator, sent: new Map() };
    this.#choices.set(index, choice);
    return choice;
  }
}
