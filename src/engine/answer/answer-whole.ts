import { isObject } from "../../core/protocol/adapter.ts";
import type { ReadChoice, ReadChunk } from "../../core/protocol/visible.ts";
import type { ChatChunk, Choice, Delta, WireToolCall } from "../../core/protocol/wire.ts";
import type { Answer, ClientCallPiece, Ending } from "./answer.ts";

interface WholeChoice {
  wire: Choice;
  message: Delta;
  calls: Map<string, WireToolCall & { text: string }>;
}

/** The unstreamed answer: the last round's body with the text of all rounds, as a streaming client would have read it. */
export class WholeAnswer implements Answer {
  readonly shown = false;
  readonly #model: string;
  #envelope: Pick<ChatChunk, "id" | "created"> | undefined;
  #body: ChatChunk = {};
  #settled = new Map<number, Delta>();
  #choices = new Map<number, WholeChoice>();

  constructor(model: string) {
    this.#model = model;
  }

  takeChunk(chunk: ReadChunk): undefined {
    this.#body = chunk.wire;
    if (!this.#envelope && chunk.wire.id) this.#envelope = { id: chunk.wire.id, created: chunk.wire.created };
    for (const choice of chunk.choices) this.#takeChoice(choice);
  }

  takeCall(index: number, { call, text }: ClientCallPiece): void {
    const { calls } = this.#choice(index);
    const known = calls.get(call.id);
    if (known) known.text += text;
    else calls.set(call.id, { ...call.extra, id: call.id, type: call.kind, name: call.name, text });
  }

  /** Progress is for streams. */
  progress(): void {}

  say(text: string): void {
    const { message } = this.#choice(0);
    message.content = joined(message.content, text);
  }

  /** Nothing leaves before the end. */
  announce(): void {}

  /** Nothing leaves before the end, so holding is to remember what was there before. */
  hold(): void {
    this.settle();
  }

  release(show: boolean): void {
    if (!show) this.restart();
  }

  /** Nothing leaves before the end. */
  flush(): void {}

  restart(): void {
    this.#choices = new Map([...this.#settled].map(([index, message]) => [index, fresh({ ...message })]));
  }

  /** What the round has brought is part of the answer, whatever the next one brings. */
  settle(): void {
    this.#settled = new Map([...this.#choices].map(([index, choice]) => [index, { ...choice.message }]));
  }

  /** The body of the answer. */
  end(ending: Ending, strict: boolean): ChatChunk {
    const choices = [...this.#choices].map(([index, choice]) => wholeChoice(index, choice, ending));
    if (choices.length === 0) choices.push(wholeChoice(0, fresh({}), ending));
    return {
      ...this.#body,
      ...this.#envelope,
      object: "chat.completion",
      model: this.#model,
      choices,
      ...(ending.usage && { usage: ending.usage }),
      ...(!strict && { toolweir: ending.summary }),
    };
  }

  #takeChoice(choice: ReadChoice): void {
    const mine = this.#choice(choice.index);
    mine.wire = { ...mine.wire, ...choice.wire };
    for (const [member, value] of Object.entries(choice.visible?.delta ?? silentMembers(choice)))
      mine.message[member] = joined(mine.message[member], value);
  }

  #choice(index: number): WholeChoice {
    let choice = this.#choices.get(index);
    if (!choice) {
      choice = fresh({});
      this.#choices.set(index, choice);
    }
    return choice;
  }
}

const fresh = (message: Delta): WholeChoice => ({ wire: {}, message, calls: new Map() });

/** Text and lists of several rounds are joined; of anything else the later value stands. */
function joined(before: unknown, value: unknown): unknown {
  if (typeof before === "string" && typeof value === "string") return before + value;
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  if (isObject(before) && isObject(value)) return { ...before, ...value };
  return value ?? before ?? null;
}

/** What a message without text has beside it, all of it `null` or empty. */
function silentMembers({ said }: ReadChoice): Delta {
  const { role: _, content: __, ...rest } = said;
  return rest;
}

function wholeChoice(index: number, { wire, message, calls }: WholeChoice, ending: Ending): Choice {
  const { delta: _, message: __, ...rest } = wire;
  const tools = [...calls.values()].map(({ text, name, ...call }) => ({
    ...call,
    [String(call.type)]: call.type === "custom" ? { name, input: text } : { name, arguments: text },
  }));
  return {
    ...rest,
    index,
    message: { role: "assistant", content: null, ...message, ...(tools.length > 0 && { tool_calls: tools }) },
    finish_reason: index === 0 ? ending.finish : (rest.finish_reason ?? "stop"),
  };
}
