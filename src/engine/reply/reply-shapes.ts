import { Stem } from "../../core/protocol/stem.ts";
import type { TextTemplate } from "../../core/protocol/text-template.ts";
import type { ReadChunk } from "../../core/protocol/visible.ts";
import type { StreamAnswer } from "../answer/answer-stream.ts";
import type { UpstreamTarget } from "../ports/upstream.ts";

/** Models of one upstream whose shapes are remembered; the oldest makes room. */
const MAX_MODELS = 64;
/** Larger events are read each time. */
const MAX_BYTES = 4096;
/** Openings learned in a row that no reply then had: what this upstream sends never comes again. */
const MAX_IN_VAIN = 16;

/**
 * How the replies of one upstream to requests for one model begin, say text and end, but for their id and time: learned from a
 * reply that opened its run's stream, and used for such. An event that differs in anything else is read in full.
 */
interface Shapes {
  /** The event that says the role only, and the frame written for it, without its end. */
  opening: { event: Stem; frame: Stem; read: ReadChunk } | undefined;
  text: ReturnType<TextTemplate["forReplies"]>;
  /** The event that says the finish reason only. */
  closing: { event: Stem; read: ReadChunk } | undefined;
  inVain: number;
}

const known = new WeakMap<UpstreamTarget, Map<string, Shapes>>();

function shapesOf(target: UpstreamTarget, model: string): Shapes {
  const models = known.get(target) ?? new Map<string, Shapes>();
  known.set(target, models);
  const found = models.get(model);
  if (found) return found;
  const [oldest] = models.size === MAX_MODELS ? models.keys() : [];
  if (oldest !== undefined) models.delete(oldest);
  const shapes: Shapes = { opening: undefined, text: undefined, closing: undefined, inVain: 0 };
  models.set(model, shapes);
  return shapes;
}

/** An event that needs no reading: what it says, and the offset after it. */
interface Known {
  read: ReadChunk;
  end: number;
}

/** One reply, read with the help of earlier ones of its kind. */
export class KnownReply {
  readonly #shapes: Shapes;
  readonly #stream: StreamAnswer;
  #closing: { bytes: Buffer; read: ReadChunk } | undefined;
  /** Of this reply's text, once its opening was a known one. */
  template: TextTemplate | undefined;

  /** For a reply that opens the stream of its run: what is written for it depends on nothing before. */
  static of(target: UpstreamTarget, stream: StreamAnswer | undefined): KnownReply | undefined {
    return stream?.fresh ? new KnownReply(shapesOf(target, stream.model), stream) : undefined;
  }

  private constructor(shapes: Shapes, stream: StreamAnswer) {
    this.#shapes = shapes;
    this.#stream = stream;
  }

  /** Writes the known opening that `bytes` begin with, if they do. */
  open(bytes: Buffer): Known | undefined {
    const { opening, text, closing } = this.#shapes;
    const end = opening ? opening.event.match(bytes, 0) : -1;
    if (!opening || end < 0) return undefined;
    const { names } = opening.event;
    this.#shapes.inVain = 0;
    this.template = text?.(names);
    this.#closing = closing && { bytes: closing.event.fill(names), read: closing.read };
    this.#stream.open(
      names.id.toString("latin1"),
      Number(names.created.toString("latin1")),
      opening.frame.fill(names).toString(),
    );
    return { read: opening.read, end };
  }

  /** The known finish, if it stands at `from`. */
  close(bytes: Buffer, from: number): Known | undefined {
    const closing = this.#closing;
    const end = from + (closing?.bytes.length ?? 0);
    if (!closing || end > bytes.length || bytes.compare(closing.bytes, 0, end - from, from, end) !== 0)
      return undefined;
    return { read: closing.read, end };
  }

  /** Learns from an event that was read in full and said no text. */
  learn(read: ReadChunk, raw: Buffer): void {
    const [choice, more] = read.choices;
    if (!choice || more || choice.index !== 0 || choice.visible || choice.fragments.length > 0) return;
    if (read.usage || raw.length > MAX_BYTES || this.#shapes.inVain === MAX_IN_VAIN) return;
    const { id, created } = read.wire;
    const event = Stem.of(raw, id, created);
    if (!event) return;
    if (choice.finish !== undefined) {
      this.#shapes.closing = { event, read };
      return;
    }
    const frame = Stem.of(Buffer.from(this.#stream.openingOf(read) ?? ""), id, created);
    if (!frame) return;
    this.#shapes.opening = { event, frame, read };
    this.#shapes.inVain++;
  }

  /** Learns from the first event that said text and nothing else. */
  learnText(template: TextTemplate, { choices, wire }: ReadChunk): void {
    if (choices[0]?.index !== 0 || this.#shapes.inVain === MAX_IN_VAIN) return;
    this.#shapes.text = template.forReplies(wire.id, wire.created);
  }
}

/** The member with the text of a chunk that says nothing but text, in one choice. */
export function onlyText({ choices }: ReadChunk): string | undefined {
  const [choice, more] = choices;
  if (!choice?.visible || more || choice.fragments.length > 0 || choice.finish !== undefined)
    return undefined;
  const said = Object.entries(choice.said).filter(
    ([member, value]) => member !== "role" && value !== null && value !== "",
  );
  const [text, other] = said;
  return text && !other && typeof text[1] === "string" ? text[0] : undefined;
}
