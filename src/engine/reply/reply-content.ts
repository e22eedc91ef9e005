import type { OnValue } from "../../core/json/tree-builder.ts";
import { CallAccumulator, type OpenCall, type ToolCall } from "../../core/protocol/accumulator.ts";
import { nativeAdapter, type ProtocolAdapter, type ToolFragment } from "../../core/protocol/adapter.ts";
import { KeptReply } from "../../core/protocol/kept-reply.ts";
import type { TextAdapter } from "../../core/protocol/text/text-adapter.ts";
import { finishReason, type ReadChoice, type ReadChunk, readChunk } from "../../core/protocol/visible.ts";
import type { ChatChunk, ChatMessage, FinishReason, Usage } from "../../core/protocol/wire.ts";
import { GatewayError } from "../../errors.ts";
import type { Answer } from "../answer/answer.ts";

/** What is known about the run that a reply belongs to. */
export interface ReplyContext {
  answer: Answer;
  /** Whose a call of this name is. */
  owner(name: string): "gateway" | "client" | "unknown";
  /** Keep what is said for a next round; off where none can follow. */
  keep: boolean;
  maxArgumentLength: number;
  nextCallId(wireId: string | undefined): string;
  /** Makes what finds calls in the text of a choice; absent where the provider's own calls are all there is to read. */
  textAdapter?: (() => TextAdapter) | undefined;
  /** A gateway call has begun: its name is known, and its arguments are coming. */
  onCall?(name: string): void;
  /** A value inside the arguments of a gateway call is complete. */
  onArgument?(call: OpenCall, ...of: Parameters<OnValue>): void;
  /** Asked after each chunk with pieces of calls: whether the rest of the reply is of no use. */
  stop?(calls: readonly OpenCall[]): boolean;
}

/** One finished reply of the model. */
export interface Reply {
  finish: FinishReason;
  /** Calls of the first choice, in the model's order. */
  calls: readonly ToolCall[];
  /** `native`, or the text protocol in which the calls were looked for. */
  protocol: string;
  /** The assistant message to send back, with the given calls. */
  toMessage(calls: readonly ToolCall[]): ChatMessage;
  usage: Usage | undefined;
  /** It was not read to its end: nothing in it may run. */
  stopped?: true;
}

interface OpenChoice {
  accumulator: CallAccumulator;
  /** Characters of each client call that are out. */
  sent: Map<OpenCall, number>;
  /** Nothing more is taken. */
  closed: boolean;
}

/** Understands one reply: what is shown goes to the answer at once, calls gather, the end is judged once. */
export class ReplyContent {
  readonly #context: ReplyContext;
  readonly #choices = new Map<number, OpenChoice>();
  readonly #adapters = new Map<number, TextAdapter>();
  readonly #finish: string[] = [];
  /** Choices that have a finish reason, and those that have spoken and have none. */
  readonly #done = new Set<number>();
  readonly #going = new Set<number>();
  readonly kept = new KeptReply();
  #usage: Usage | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  /** Every choice that has spoken, the first one at least, has a finish reason; more may still follow. */
  get finished(): boolean {
    return this.#done.has(0) && this.#going.size === 0;
  }

  read(chunk: ChatChunk): ReadChunk {
    return readChunk(chunk, this.#adapterOf);
  }

  /** How the calls of the first choice were written. */
  get protocol(): string {
    return this.#adapters.get(0)?.protocol ?? "native";
  }

  /** Nothing that was said is held: a chunk that only says the finish adds nothing to it. */
  get resting(): boolean {
    return this.#adapters.size === 0 || [...this.#adapters.values()].every((adapter) => adapter.resting);
  }

  /** Whether text that stands between two offsets of an event may go out unread; it counts as read then. */
  passes(index: number, member: string, bytes: Buffer, from: number, to: number): boolean {
    return (
      this.#context.textAdapter === undefined || this.#textAdapter(index).passes(member, bytes, from, to)
    );
  }

  /** Returns what the answer says of the frame it wrote. */
  take(chunk: ReadChunk): string | undefined {
    const written = this.#context.answer.takeChunk(chunk);
    this.note(chunk);
    return written;
  }

  /** What a chunk means for the reply, beside what the client sees of it. */
  note(chunk: ReadChunk): void {
    if (chunk.usage) this.#usage = chunk.usage;
    for (const choice of chunk.choices) {
      if (choice.index === 0 && this.#context.keep) this.kept.take(choice.said);
      if (choice.withdraws) this.#withdraw(choice.index);
      for (const fragment of choice.fragments) this.takeFragment(choice.index, fragment);
      this.#takeFinish(choice);
    }
  }

  /** Whether a call has begun whose arguments are not whole. */
  get insideCall(): boolean {
    const calls = [...this.#choices.values()].flatMap(({ accumulator }) => accumulator.calls);
    return calls.some(({ parser }) => parser.completeAt < 0);
  }

  /** Whether the reply is to be read no further. */
  get useless(): boolean {
    const calls = this.#choices.get(0)?.accumulator.calls;
    return calls !== undefined && !this.finished && this.#context.stop?.(calls) === true;
  }

  /** The reply as far as it has come, for one that is read no further. */
  broken(): Reply {
    return { ...this.#reply("tool_calls"), stopped: true };
  }

  /** Judges the whole reply. Throws `upstream_error` when the provider itself says that it failed. */
  end(): Reply {
    if (this.#finish.includes("error"))
      throw new GatewayError("upstream_error", "The upstream ended its reply with an error.");
    const reason = finishReason(this.#finish);
    const cut = reason === "length" || reason === "content_filter";
    for (const [index, choice] of this.#choices) {
      for (const call of choice.accumulator.calls) this.#sendRest(index, choice, call, cut);
    }
    return this.#reply(cut ? reason : undefined);
  }

  /** Without a reason the calls say how the reply has ended. */
  #reply(reason: FinishReason | undefined): Reply {
    const calls = this.#choices.get(0)?.accumulator.finish() ?? [];
    return {
      finish: reason ?? (calls.length > 0 ? "tool_calls" : "stop"),
      calls,
      protocol: this.protocol,
      toMessage: (list) => this.kept.toMessage(list),
      usage: this.#usage,
    };
  }

  readonly #adapterOf = (index: number): ProtocolAdapter =>
    this.#context.textAdapter === undefined ? nativeAdapter : this.#textAdapter(index);

  #textAdapter(index: number): TextAdapter {
    const known = this.#adapters.get(index);
    if (known) return known;
    const adapter = (this.#context.textAdapter as () => TextAdapter)();
    this.#adapters.set(index, adapter);
    return adapter;
  }

  #takeFinish({ index, finish }: ReadChoice): void {
    if (finish === undefined) {
      if (!this.#done.has(index)) this.#going.add(index);
      return;
    }
    this.#going.delete(index);
    this.#done.add(index);
    if (index === 0) this.#finish.push(finish);
  }

  /** Calls that have begun to go out cannot be taken back, so they stand and the others are left out. */
  #withdraw(index: number): void {
    const choice = this.#choices.get(index);
    if (choice && choice.sent.size > 0) choice.closed = true;
    else this.#choices.delete(index);
  }

  /** A piece of a call that a choice makes. */
  takeFragment(index: number, fragment: ToolFragment): void {
    const choice = this.#choices.get(index) ?? this.#openChoice(index);
    if (choice.closed) return;
    const call = choice.accumulator.push(fragment);
    if (fragment.text === "") return;
    if (call.fragments.length === 1 && this.#context.owner(call.name) === "gateway")
      this.#context.onCall?.(call.name);
    if (!this.#goesOut(call.name)) return;
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

  /**
   * A call without arguments has not gone out, for its name could still have grown, unless another one followed. Nor has one
   * without a name, for it could still have come.
   */
  #sendRest(index: number, choice: OpenChoice, call: OpenCall, cut: boolean): void {
    const text = call.fragments.join("");
    if (choice.sent.get(call) || this.#context.owner(call.name) !== "client") return;
    if (call.name === "" && text === "") return;
    this.#send(index, choice, call, text || (cut || call.kind === "custom" ? "" : "{}"));
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
        onValue: (call: OpenCall, ...of: Parameters<OnValue>) => {
          if (of[0].length > 0 && this.#context.owner(call.name) === "gateway") onArgument(call, ...of);
        },
      }),
    });
    const choice = { accumulator, sent: new Map(), closed: false };
    this.#choices.set(index, choice);
    return choice;
  }
}
