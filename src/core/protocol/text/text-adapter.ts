import {
  nativeAdapter,
  type ProtocolAdapter,
  plainContent,
  type ReadDelta,
  type ToolFragment,
} from "../adapter.ts";
import type { Delta } from "../wire.ts";
import { lineBehind, type MarkerScan } from "./marker-scan.ts";
import type { Emit, ReaderContext, TextEvent, TextFormat, TextReader } from "./reader.ts";

/** Where servers put what a model thinks. */
const REASONING = ["reasoning_content", "reasoning"];

/** What one delta says, channel by channel. */
interface Said {
  content: string;
  reasoning: string;
  fragments: ToolFragment[];
}

/** A reader, and the places of its calls among those of the reply. */
interface Channel {
  reader: TextReader;
  calls: number[];
}

/**
 * Finds calls in the text of one choice.
 *
 * 1. The provider's own calls win: from the first of them on the text is left alone, and calls that were found in it before are
 *    withdrawn.
 * 2. Reasoning that comes in a member of its own is an open think block. Text of the answer closes it; where none comes, a call in
 *    it counts.
 * 3. Reasoning inside of the text goes out as `reasoning_content`. With `reasoningPrefilled` the text begins with some, unless reasoning came
 *    in a member of its own before it.
 */
export class TextAdapter implements ProtocolAdapter {
  readonly #format: TextFormat;
  readonly #scan: MarkerScan;
  readonly #context: ReaderContext;
  readonly #text: Channel;
  /** For the reasoning that has a member of its own. */
  #thought: Channel | undefined;
  #thoughtMember = "reasoning_content";
  #calls = 0;
  /** Calls without arguments so far, that have not ended. */
  readonly #bare = new Set<number>();
  /** Text of the answer has come. */
  #begun = false;
  /** Nothing is read any more. */
  #off = false;
  #native = false;

  constructor(format: TextFormat, scan: MarkerScan, context: ReaderContext) {
    this.#format = format;
    this.#scan = scan;
    this.#context = context;
    this.#text = { reader: format.reader(context), calls: [] };
  }

  /** The protocol in which the calls came: `native` where the provider sent its own. */
  get protocol(): string {
    return this.#native ? "native" : (this.#format.names[0] as string);
  }

  /** Nothing is held: an end of the reply would add nothing. */
  get resting(): boolean {
    if (this.#off) return true;
    const thinks = this.#thought === undefined || this.#thought.reader.idle === "reasoning";
    return thinks && this.#text.reader.idle === "content";
  }

  /**
   * Whether text in a member of the delta, given as the bytes inside of its JSON string, says nothing but itself. If so, it
   * counts as read.
   */
  passes(member: string, bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#off) return true;
    const reader = this.#readerOf(member);
    if (!reader || !this.#scan.isFree(bytes, from, to)) return false;
    const line = lineBehind(bytes, from, to);
    if (line === undefined) return false;
    reader.passed(line);
    return true;
  }

  /** The reader of a member, if text may go past it. */
  #readerOf(member: string): TextReader | undefined {
    const thought = this.#thought?.reader;
    if (member === this.#thoughtMember) return thought?.idle === "reasoning" ? thought : undefined;
    const { reader } = this.#text;
    return member === "content" && !thought && reader.idle === "content" ? reader : undefined;
  }

  push(delta: Delta, last: boolean): ReadDelta {
    const plain = plainContent(delta);
    const native = nativeAdapter.push(plain, last);
    if (this.#off) return { ...native, changed: plain !== delta };
    const said: Said = { content: "", reasoning: "", fragments: [] };
    const isNative = native.fragments.length > 0;
    this.#read(native.visible, said);
    if (last || isNative) this.#end(said);
    const visible = this.#shown(native.visible, said);
    if (!isNative) return { visible, fragments: said.fragments, changed: isChanged(delta, visible, said) };
    this.#native = true;
    return {
      visible,
      fragments: native.fragments,
      changed: true,
      ...(this.#calls > 0 && { withdraws: true }),
    };
  }

  #read(delta: Delta, said: Said): void {
    const { content } = delta;
    const member = REASONING.find((name) => typeof delta[name] === "string" && delta[name] !== "");
    if (member !== undefined) {
      this.#thoughtMember = member;
      if (this.#context.reasoningPrefilled && !this.#begun)
        this.#text.reader = this.#format.reader({ ...this.#context, reasoningPrefilled: false });
      this.#thought ??= {
        reader: this.#format.reader({ ...this.#context, reasoningPrefilled: true }),
        calls: [],
      };
      this.#thought.reader.push(String(delta[member]), this.#into(said, this.#thought));
    }
    if (typeof content !== "string") return;
    this.#begun ||= content !== "";
    if (this.#thought && content.trim() !== "") this.#closeThought(said, this.#thought);
    this.#text.reader.push(content, this.#into(said, this.#text));
  }

  /** The answer has begun, so the reasoning before it was all reasoning. */
  #closeThought(said: Said, thought: Channel): void {
    thought.reader.push(this.#format.closesReasoning, this.#into(said, thought));
    thought.reader.end(this.#into(said, thought));
    this.#thought = undefined;
  }

  #end(said: Said): void {
    this.#off = true;
    this.#text.reader.end(this.#into(said, this.#text));
    this.#thought?.reader.end(this.#into(said, this.#thought));
    // A call that was cut off before its arguments must not look like one without any.
    for (const index of this.#bare)
      said.fragments.push({ ...pieceOf(index, "{"), place: said.fragments.length });
  }

  /** Notes which calls have begun and brought nothing yet. */
  #follow(kind: TextEvent["kind"], index: number): void {
    if (kind === "call") this.#bare.add(index);
    else this.#bare.delete(index);
  }

  #into(said: Said, channel: Channel): Emit {
    return (event) => {
      if (event.kind === "content" || event.kind === "reasoning") {
        said[channel === this.#thought ? "reasoning" : event.kind] += event.text;
        return;
      }
      if (event.kind === "call") channel.calls[event.call] = this.#calls++;
      const index = channel.calls[event.call];
      const head =
        event.kind === "call" ? { id: event.id, name: event.name } : { id: undefined, name: undefined };
      this.#follow(event.kind, index as number);
      const { text, repairs } = event.kind === "arguments" ? event : { text: "", repairs: undefined };
      const place = said.fragments.length;
      if (event.kind !== "call_end")
        said.fragments.push({ ...pieceOf(index, text), ...head, repairs, place });
    };
  }

  /** The delta with what is left of its text. */
  #shown(delta: Delta, { content, reasoning }: Said): Delta {
    const shown = { ...delta };
    if (typeof delta.content === "string" || content !== "") shown.content = content;
    if (typeof delta[this.#thoughtMember] === "string" || reasoning !== "")
      shown[this.#thoughtMember] = reasoning;
    return shown;
  }
}

const pieceOf = (index: number | undefined, text: string) =>
  ({ index, id: undefined, name: undefined, text, kind: "function", extra: undefined }) as const;

function isChanged(before: Delta, after: Delta, { fragments }: Said): boolean {
  return fragments.length > 0 || Object.keys(after).some((member) => after[member] !== before[member]);
}
