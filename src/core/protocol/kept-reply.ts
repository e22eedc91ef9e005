import type { ToolCall } from "./accumulator.ts";
import type { ChatMessage, Delta, WireToolCall } from "./wire.ts";

/** Members of an assistant message that providers want back with the tool results, under the name they came with. */
const ECHOED = /reason|think|thought|signature|extra_content/;
const MAX_KEPT = 16 * 1024 * 1024;

/** Text that comes partly as JSON string escapes (from the fast path) and partly decoded. */
class KeptText {
  #text = "";
  #escaped = "";

  add(text: string): void {
    this.#settle();
    this.#text += text;
  }

  addEscaped(text: string): void {
    this.#escaped += text;
  }

  get length(): number {
    return this.#text.length + this.#escaped.length;
  }

  get value(): string {
    this.#settle();
    return this.#text;
  }

  #settle(): void {
    if (this.#escaped === "") return;
    this.#text += JSON.parse(`"${this.#escaped}"`) as string;
    this.#escaped = "";
  }
}

/** What one reply said, kept for the assistant message of the next round. Text beyond 16 MiB is not kept. */
export class KeptReply {
  readonly #texts = new Map<string, KeptText>();
  readonly #others = new Map<string, unknown>();

  take(delta: Delta): void {
    for (const [member, value] of Object.entries(delta)) {
      if (!isKept(member)) continue;
      if (typeof value === "string") this.#textOf(member)?.add(value);
      else if (Array.isArray(value)) this.#takeList(member, value);
      else if (value !== null && value !== undefined) this.#others.set(member, value);
    }
  }

  /** The inside of a JSON string, as the bytes of the stream had it. */
  takeEscaped(member: string, escaped: string): void {
    if (isKept(member)) this.#textOf(member)?.addEscaped(escaped);
  }

  /** The assistant message with its calls, ready to go back upstream. */
  toMessage(calls: readonly ToolCall[]): ChatMessage {
    const message: ChatMessage = { role: "assistant", content: null };
    for (const [member, text] of this.#texts) message[member] = text.value || null;
    // A provider that streams `content` in parts gets its parts back.
    for (const [member, value] of this.#others) message[member] = value;
    if (calls.length > 0) message.tool_calls = calls.map(toWireCall);
    return message;
  }

  #textOf(member: string): KeptText | undefined {
    let text = this.#texts.get(member);
    if (!text) {
      text = new KeptText();
      this.#texts.set(member, text);
    }
    return text.length < MAX_KEPT ? text : undefined;
  }

  #takeList(member: string, list: readonly unknown[]): void {
    const before = this.#others.get(member);
    this.#others.set(member, Array.isArray(before) ? [...before, ...list] : list);
  }
}

const isKept = (member: string) => member === "content" || ECHOED.test(member);

/** A call in the form in which it stands in an assistant message: arguments are always text, never empty. */
function toWireCall(call: ToolCall): WireToolCall {
  const body =
    call.kind === "custom"
      ? { name: call.name, input: call.raw }
      : { name: call.name, arguments: call.raw.trim() || "{}" };
  return { ...call.extra, id: call.id, type: call.kind, [call.kind]: body };
}
