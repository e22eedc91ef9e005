/** One event of a `text/event-stream` (HTML Standard, section 9.2.6), as far as this gateway uses it. */
export interface SseEvent {
  /** The `event` field, `""` without one. */
  event: string;
  /** The `data` lines, joined by LF; `undefined` when the event has none. */
  data: string | undefined;
  /** The value of an `error` field, which is not in the standard but which some servers use to report a failure. */
  error: string | undefined;
}

const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;
const NOTHING = Buffer.alloc(0);

/**
 * Reads server-sent events from bytes that may be cut anywhere.
 *
 * 1. However the input is cut, the events are the same.
 * 2. CR, LF and CRLF end a line, also mixed and also cut between the two; one leading BOM is skipped.
 * 3. Time is linear in the input; what is held never exceeds `maxEventBytes` (then `read` throws a `RangeError`).
 * 4. An event is handed out as soon as its blank line is there, without waiting for the LF of a CRLF.
 *
 * Unlike the standard, `end` hands out an event that no blank line closed: the caller decides what it is worth.
 */
export class SseDecoder {
  readonly #maxEventBytes: number;
  /** The beginning of a line whose end has not come, with room to grow. */
  #held = NOTHING;
  #heldBytes = 0;
  #eventBytes = 0;
  #atStart = true;
  #skipLf = false;
  #event = "";
  #data: string | undefined;
  #error: string | undefined;
  #nextCr = -2;
  #nextCrIn: Buffer | undefined;

  /** The event that the last `read` completed. */
  event: SseEvent | undefined;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Nothing of an event is held: the next byte begins a new one (or is the LF of a CRLF). */
  get idle(): boolean {
    return this.#eventBytes === 0 && !this.#atStart;
  }

  /** Nothing has been read. */
  get fresh(): boolean {
    return this.#eventBytes === 0 && this.#atStart;
  }

  /** Whole events at the start were read by someone else, who saw that they do not begin with a BOM. */
  skipStart(): void {
    this.#atStart = false;
  }

  /** Reads until one event is complete or `bytes` are used up; returns the offset reached and sets `event`. */
  read(bytes: Buffer, from: number): number {
    this.event = undefined;
    let at = from;
    while (at < bytes.length) {
      if (this.#skipLf) {
        this.#skipLf = false;
        if (bytes[at] === LF && ++at === bytes.length) break;
      }
      const end = this.#lineEnd(bytes, at);
      if (end < 0) {
        this.#hold(bytes.subarray(at));
        return bytes.length;
      }
      const line = this.#takeLine(bytes, at, end);
      at = this.#afterLineEnd(bytes, end);
      if (this.#takeField(line)) break;
    }
    return at;
  }

  /** The input is over: the event that was not closed, if there is one. */
  end(): SseEvent | undefined {
    if (this.#heldBytes > 0) this.#takeField(this.#takeLine(NOTHING, 0, 0));
    this.#takeField(NOTHING);
    return this.event;
  }

  #lineEnd(bytes: Buffer, from: number): number {
    if (this.#nextCrIn !== bytes || (this.#nextCr >= 0 && this.#nextCr < from)) {
      this.#nextCrIn = bytes;
      this.#nextCr = bytes.indexOf(CR, from);
    }
    const lf = bytes.indexOf(LF, from);
    return this.#nextCr >= 0 && (lf < 0 || this.#nextCr < lf) ? this.#nextCr : lf;
  }

  #afterLineEnd(bytes: Buffer, end: number): number {
    if (bytes[end] === LF) return end + 1;
    if (bytes[end + 1] === LF) return end + 2;
    this.#skipLf = end + 1 === bytes.length;
    return end + 1;
  }

  /** Copies, since a list of pieces would take many times the memory of what is in them. */
  #hold(rest: Buffer): void {
    this.#grow(rest.length);
    const bytes = this.#heldBytes + rest.length;
    if (bytes > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#held.length));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    rest.copy(this.#held, this.#heldBytes);
    this.#heldBytes = bytes;
  }

  #grow(bytes: number): void {
    this.#eventBytes += bytes;
    if (this.#eventBytes > this.#maxEventBytes) {
      throw new RangeError(`an event of more than ${this.#maxEventBytes} bytes`);
    }
  }

  #takeLine(bytes: Buffer, from: number, to: number): Buffer {
    let line = bytes.subarray(from, to);
    if (this.#heldBytes > 0) {
      this.#hold(line);
      line = this.#held.subarray(0, this.#heldBytes);
      this.#held = NOTHING;
      this.#heldBytes = 0;
    } else this.#grow(line.length);
    this.#grow(1);
    if (this.#atStart) {
      this.#atStart = false;
      if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) line = line.subarray(3);
    }
    return line;
  }

  /** Returns whether the line completed an event worth handing out. */
  #takeField(line: Buffer): boolean {
    if (line.length === 0) return this.#dispatch();
    if (line[0] === COLON) return false;
    const colon = line.indexOf(COLON);
    const name = line.toString("latin1", 0, colon < 0 ? line.length : colon);
    if (name === "data") {
      const value = fieldValue(line, colon);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (name === "event") this.#event = fieldValue(line, colon);
    else if (name === "error") this.#error = fieldValue(line, colon);
    return false;
  }

  #dispatch(): boolean {
    const found = this.#data !== undefined || this.#error !== undefined;
    this.event = found ? { event: this.#event, data: this.#data, error: this.#error } : undefined;
    this.#event = "";
    this.#data = undefined;
    this.#error = undefined;
    this.#eventBytes = 0;
    return found;
  }
}

function fieldValue(line: Buffer, colon: number): string {
  if (colon < 0) return "";
  return line.toString("utf8", line[colon + 1] === SPACE ? colon + 2 : colon + 1, line.length);
}
