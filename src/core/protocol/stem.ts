const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const ID = Buffer.from('"id"');
const CREATED = Buffer.from('"created"');
/** Ids that JSON spells in one way only. */
const PLAIN_ID = /^[\w.:-]{1,256}$/;
const CREATED_DIGITS = 15;

/** The id and the time of one reply, as its bytes spell them. */
export interface ReplyNames {
  id: Buffer;
  created: Buffer;
}

/**
 * JSON bytes in which the id of a reply, and after it the time, stand once: with others in their place they are another reply's.
 *
 * 1. Nothing in the bytes is escaped and no other key or string is `id` or `created`. So bytes that match parse to the same
 *    value with another id and time.
 * 2. The id is of plain characters and the time a positive whole number, so that both have one spelling.
 */
export class Stem {
  readonly #before: Buffer;
  readonly #between: Buffer;
  readonly #after: Buffer;
  /** Those of the last match; they point into its bytes. */
  names: ReplyNames = { id: ID, created: CREATED };

  private constructor(before: Buffer, between: Buffer, after: Buffer) {
    this.#before = before;
    this.#between = between;
    this.#after = after;
  }

  /** Cuts out the id and the time; the bytes are copied. `undefined` where they are not of this form. */
  static of(bytes: Buffer, id: unknown, created: unknown): Stem | undefined {
    if (typeof id !== "string" || !PLAIN_ID.test(id) || !isTime(created) || bytes.includes("\\"))
      return undefined;
    const idFrom = valueAt(bytes, ID, `"${id}"`) + 1;
    const createdFrom = valueAt(bytes, CREATED, String(created));
    if (idFrom === 0 || createdFrom < idFrom) return undefined;
    const createdTo = createdFrom + String(created).length;
    if (!",} ".includes(String.fromCharCode(bytes[createdTo] ?? 0))) return undefined;
    return new Stem(
      Buffer.from(bytes.subarray(0, idFrom)),
      Buffer.from(bytes.subarray(idFrom + id.length, createdFrom)),
      Buffer.from(bytes.subarray(createdTo)),
    );
  }

  /** Returns the offset after the bytes that begin at `from`, or -1 when they are others or not all there; sets `names`. */
  match(bytes: Buffer, from: number): number {
    const idFrom = skip(bytes, from, this.#before);
    const idTo = idFrom < 0 ? -1 : bytes.indexOf(QUOTE, idFrom);
    const createdFrom = idTo < 0 ? -1 : skip(bytes, idTo, this.#between);
    if (createdFrom < 0 || !PLAIN_ID.test(bytes.toString("latin1", idFrom, idTo))) return -1;
    const createdTo = digitsEnd(bytes, createdFrom);
    const end = createdTo < 0 ? -1 : skip(bytes, createdTo, this.#after);
    if (end >= 0)
      this.names = { id: bytes.subarray(idFrom, idTo), created: bytes.subarray(createdFrom, createdTo) };
    return end;
  }

  /** The bytes with these names. */
  fill({ id, created }: ReplyNames): Buffer {
    return Buffer.concat([this.#before, id, this.#between, created, this.#after]);
  }

  /** Whether neither key stands in the bytes, so that what is beside a stem says nothing about its names. */
  static isFreeOf(bytes: Buffer): boolean {
    return !bytes.includes(ID) && !bytes.includes(CREATED);
  }
}

const isTime = (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) > 0 && String(value).length <= CREATED_DIGITS;

/** Where the value of the only such key begins, if it is spelled like this; else -1. */
function valueAt(bytes: Buffer, key: Buffer, spelling: string): number {
  const at = bytes.indexOf(key);
  if (at < 0 || bytes.indexOf(key, at + 1) >= 0 || bytes[at + key.length] !== COLON) return -1;
  let from = at + key.length + 1;
  while (bytes[from] === SPACE) from++;
  return bytes.indexOf(spelling, from) === from ? from : -1;
}

function skip(bytes: Buffer, from: number, part: Buffer): number {
  const to = from + part.length;
  return to <= bytes.length && bytes.compare(part, 0, part.length, from, to) === 0 ? to : -1;
}

/** The end of the digits of a positive whole number, or -1. */
function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  return at > from && bytes[from] !== 0x30 && at - from <= CREATED_DIGITS ? at : -1;
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;
