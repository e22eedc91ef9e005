import { type ReplyNames, Stem } from "./stem.ts";

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
/** `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t` and `u`: what may follow a backslash (RFC 8259, section 7). */
const ESCAPES = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74, 0x75]);
const NOTHING = Buffer.alloc(0);
/** Random padding that an upstream may add beside the text; it differs in every event and means nothing. */
const PADDING = "obfuscation";

/** A string value inside the bytes of an event: the offsets between its quotes. */
interface Hole {
  from: number;
  to: number;
}

/**
 * The shape of a run of events that differ in one string only.
 *
 * The slow path (parse, normalise, write again) is learned once and then repeated as a byte operation:
 *
 * 1. An event matches only if its bytes equal the learned ones everywhere but in the text (and in random padding), and what
 *    stands there is the inside of one well-formed JSON string. So it parses to the learned event with another text.
 * 2. If the learned event was already what the client should get, a matching one may be forwarded as it came.
 * 3. Else `head` + the text's bytes + `tail` is what the slow path would have written for it.
 */
export class TextTemplate {
  readonly #parts: readonly Buffer[];
  readonly #textHole: number;
  /** A matching event may be forwarded byte for byte. */
  readonly verbatim: boolean;
  /** Empty, as `tail` is, where `verbatim` holds. */
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Delta member that holds the text, for example `content`. */
  readonly member: string;
  /** Where the text of the last matching event stands. */
  textFrom = 0;
  textTo = 0;

  private constructor(
    parts: readonly Buffer[],
    textHole: number,
    frame: [Buffer, Buffer] | undefined,
    member: string,
  ) {
    this.#parts = parts;
    this.#textHole = textHole;
    this.verbatim = frame === undefined;
    [this.head, this.tail] = frame ?? [NOTHING, NOTHING];
    this.member = member;
  }

  /**
   * Learns from one event: `raw` are its bytes with its blank line, `frame` what the slow path wrote for it, if it wrote anything,
   * `member` the only member of its delta that holds text. Returns `undefined` where the event is not of a learnable form.
   *
   * The text is found by its key. That is sound because the key must stand in the event exactly once and, outside of the
   * text, nothing may be escaped: so no key and no string can be spelled in another way.
   */
  static learn(raw: Buffer, frame: string | undefined, member: string): TextTemplate | undefined {
    const start = dataStart(raw);
    const text = start < 0 ? undefined : findHole(raw, start, member);
    if (!text) return undefined;
    const padding = findHole(raw, start, PADDING);
    const parts = padding ? around(raw, text, padding) : [raw.subarray(0, text.from), raw.subarray(text.to)];
    if (parts.some((part) => part.includes(BACKSLASH))) return undefined;
    const textHole = padding && padding.from < text.from ? 1 : 0;
    if (frame === undefined || raw.toString() === frame)
      return new TextTemplate(parts, textHole, undefined, member);
    const written = Buffer.from(frame);
    const out = findHole(written, 0, member);
    if (!out) return undefined;
    return new TextTemplate(
      parts,
      textHole,
      [written.subarray(0, out.from), written.subarray(out.to)],
      member,
    );
  }

  /**
   * This template for other replies, which differ in their id and time only. `undefined` where the two do not both stand before the
   * text, in what is read and in what is written, or are not those given.
   */
  forReplies(id: unknown, created: unknown): ((names: ReplyNames) => TextTemplate) | undefined {
    const [first, ...rest] = this.#parts.map((part) => Buffer.from(part));
    const before = first && Stem.of(first, id, created);
    const head = this.verbatim ? undefined : Stem.of(this.head, id, created);
    if (!before || !(this.verbatim || head) || !rest.every(Stem.isFreeOf)) return undefined;
    const { member, tail } = this;
    return (names) =>
      new TextTemplate(
        [before.fill(names), ...rest],
        this.#textHole,
        head && [head.fill(names), tail],
        member,
      );
  }

  /** Returns the offset after the event that begins at `from`, or -1 when it is not of this shape or not all there. */
  match(bytes: Buffer, from: number): number {
    let at = from;
    const last = this.#parts.length - 1;
    for (let index = 0; index <= last; index++) {
      const part = this.#parts[index] as Buffer;
      const next = at + part.length;
      if (next > bytes.length || bytes.compare(part, 0, part.length, at, next) !== 0) return -1;
      if (index === last) return next;
      const end = stringEnd(bytes, next);
      if (end < 0) return -1;
      if (index === this.#textHole) {
        // Text that is empty is nothing to show, so the slow path writes nothing for it.
        if (end === next) return -1;
        this.textFrom = next;
        this.textTo = end;
      }
      at = end;
    }
    return -1;
  }
}

/** What stands before, between and after two holes. */
function around(raw: Buffer, one: Hole, other: Hole): Buffer[] {
  const [first, second] = one.from < other.from ? [one, other] : [other, one];
  return [raw.subarray(0, first.from), raw.subarray(first.to, second.from), raw.subarray(second.to)];
}

/** Offset of the JSON text in an event of exactly one `data` line, else -1. */
function dataStart(raw: Buffer): number {
  if (raw.indexOf("data:") !== 0) return -1;
  const carriageReturn = raw.indexOf(CR);
  const lineEnd = carriageReturn < 0 ? raw.indexOf(LF) : carriageReturn;
  const blank = raw.toString("latin1", lineEnd);
  if (blank !== "\n\n" && blank !== "\r\n\r\n" && blank !== "\r\r") return -1;
  return raw[5] === 32 ? 6 : 5;
}

/** The only place where `"member":"…"` stands; two places leave open which one is meant. */
function findHole(raw: Buffer, start: number, member: string): Hole | undefined {
  const key = Buffer.from(`"${member}":`);
  const at = raw.indexOf(key, start);
  if (at < 0 || raw.indexOf(key, at + 1) >= 0) return undefined;
  let from = at + key.length;
  while (raw[from] === 32) from++;
  if (raw[from] !== QUOTE) return undefined;
  const to = stringEnd(raw, from + 1);
  return to < 0 ? undefined : { from: from + 1, to };
}

/** Offset of the quote that closes the JSON string whose inside begins at `from`; -1 if it is not well-formed or not all there. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at;
    if (byte < 0x20) return -1;
    if (byte === BACKSLASH) {
      at = escapeEnd(bytes, at);
      if (at < 0) return -1;
    }
  }
  return -1;
}

function escapeEnd(bytes: Buffer, at: number): number {
  const kind = bytes[at + 1];
  if (kind === undefined || !ESCAPES.has(kind)) return -1;
  if (kind !== LOWER_U) return at + 1;
  return /^[0-9a-fA-F]{4}$/.test(bytes.toString("latin1", at + 2, at + 6)) ? at + 5 : -1;
}
