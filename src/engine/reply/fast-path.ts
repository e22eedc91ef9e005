import type { ToolFragment } from "../../core/protocol/adapter.ts";
import { TextTemplate } from "../../core/protocol/text-template.ts";
import type { ReadChoice, ReadChunk } from "../../core/protocol/visible.ts";
import { StreamAnswer } from "../answer/answer-stream.ts";
import type { UpstreamTarget } from "../ports/upstream.ts";
import type { ReplyContent, ReplyContext } from "./reply-content.ts";
import { KnownReply, onlyText } from "./reply-shapes.ts";

/** Shapes are learned anew when they change; an upstream whose every event differs is not worth the trying. */
const MAX_LESSONS = 32;

/** What the events of a shape that was learned are: text of a choice, or one more piece of a call's arguments. */
interface Shape {
  template: TextTemplate;
  choice: number;
  piece: ToolFragment | undefined;
}

/**
 * Takes events of one reply without reading them, where they differ from one that was read in a single text only.
 *
 * 1. Every method is given bytes at the beginning of an event and returns the offset after what it took, `from` for nothing.
 * 2. What it does with an event is what reading it in full would have done.
 */
export class FastPath {
  readonly #context: ReplyContext;
  readonly #content: ReplyContent;
  readonly #stream: StreamAnswer | undefined;
  readonly #known: KnownReply | undefined;
  #shape: Shape | undefined;
  #lessons = 0;
  /** The next event is of the known shape, but its text must be read: there is nothing to learn from it. */
  #refused = false;

  constructor(target: UpstreamTarget, context: ReplyContext, content: ReplyContent) {
    this.#context = context;
    this.#content = content;
    this.#stream = context.answer instanceof StreamAnswer ? context.answer : undefined;
    this.#known = KnownReply.of(target, this.#stream);
  }

  /** The beginning of a reply that begins like an earlier one. */
  open(bytes: Buffer): number {
    const opening = this.#known?.open(bytes);
    if (!opening) return 0;
    this.#content.note(opening.read);
    const template = this.#known?.template;
    this.#shape = template && { template, choice: 0, piece: undefined };
    return opening.end;
  }

  /** As many events of the learned shape as follow each other. */
  forward(bytes: Buffer, from: number): number {
    const shape = this.#shape;
    if (!shape) return from;
    this.#refused = false;
    return shape.piece
      ? this.#takePieces(shape, shape.piece, bytes, from)
      : this.#takeTexts(shape, bytes, from);
  }

  /** The finish of a reply that began like an earlier one. */
  close(bytes: Buffer, from: number): number {
    const closing = this.#content.resting ? this.#known?.close(bytes, from) : undefined;
    if (!closing) return from;
    this.#content.take(closing.read);
    return closing.end;
  }

  /** Learns from an event that was read in full. `written` is what the answer said of the frame it wrote. */
  learn(read: ReadChunk, raw: Buffer, written: string | undefined): void {
    if (this.#refused || read.choices.some(({ changed }) => changed)) return;
    const choice = this.#lessons < MAX_LESSONS && read.choices.length === 1 ? read.choices[0] : undefined;
    if (written !== undefined) this.#learnText(read, choice, raw, written);
    else if (choice && isPiece(choice)) this.#learnPiece(choice, raw);
    else this.#known?.learn(read, raw);
  }

  #takeTexts({ template, choice }: Shape, bytes: Buffer, from: number): number {
    const patched: Buffer[] = [];
    let at = from;
    for (let end = template.match(bytes, at); end >= 0; end = template.match(bytes, at)) {
      this.#refused = !this.#content.passes(
        choice,
        template.member,
        bytes,
        template.textFrom,
        template.textTo,
      );
      if (this.#refused) break;
      if (this.#context.keep) {
        const text = bytes.toString("utf8", template.textFrom, template.textTo);
        this.#content.kept.takeEscaped(template.member, text);
      }
      if (!template.verbatim) {
        patched.push(template.head, bytes.subarray(template.textFrom, template.textTo), template.tail);
      }
      at = end;
    }
    if (patched.length > 0) this.#stream?.takeBytes(Buffer.concat(patched));
    else if (at > from)
      this.#stream?.takeBytes(at - from === bytes.length ? bytes : bytes.subarray(from, at));
    return at;
  }

  #takePieces({ template, choice }: Shape, piece: ToolFragment, bytes: Buffer, from: number): number {
    let at = from;
    for (let end = template.match(bytes, at); end >= 0; end = template.match(bytes, at)) {
      const escaped = bytes.toString("utf8", template.textFrom, template.textTo);
      const text = escaped.includes("\\") ? (JSON.parse(`"${escaped}"`) as string) : escaped;
      this.#content.takeFragment(choice, { ...piece, text });
      at = end;
    }
    return at;
  }

  /** After a chunk that only said text, the next ones of its shape need no reading. */
  #learnText(read: ReadChunk, choice: ReadChoice | undefined, raw: Buffer, written: string): void {
    const member = choice && onlyText(read);
    // Only the first choice goes on in a next round, so what another one says must not be kept.
    if (member === undefined || (choice?.index !== 0 && this.#context.keep)) return;
    const template = this.#teach(raw, written, member);
    this.#shape = template && { template, choice: choice?.index ?? 0, piece: undefined };
    if (template) this.#known?.learnText(template, read);
  }

  /** After a further piece of a call, the next ones of the same call need no reading. */
  #learnPiece({ index, fragments }: ReadChoice, raw: Buffer): void {
    const [fragment] = fragments;
    const template = fragment && this.#teach(raw, undefined, "arguments");
    this.#shape = template && { template, choice: index, piece: fragment };
  }

  #teach(raw: Buffer, written: string | undefined, member: string): TextTemplate | undefined {
    this.#lessons++;
    return TextTemplate.learn(raw, written, member);
  }
}

/** Whether a choice holds nothing but more argument text of one call that was opened before. */
function isPiece({ fragments, finish, visible }: ReadChoice): boolean {
  const [fragment, more] = fragments;
  if (!fragment || more || finish !== undefined || visible) return false;
  const { id, name, kind, extra, text } = fragment;
  const names = id !== undefined || name !== undefined || extra !== undefined;
  return text !== "" && !names && kind === "function";
}
