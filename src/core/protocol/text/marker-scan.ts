import type { LineState } from "./reader.ts";

const BACKSLASH = 0x5c;
const LOWER_N = 0x6e;
const LOWER_U = 0x75;
const LINE_FEED = 0x0a;
const SPACE = 0x20;

/**
 * Tells from the bytes inside of a JSON string whether a marker may begin in them: no byte is one of a marker's first two, as far as
 * they are there.
 */
export class MarkerScan {
  /** By byte: 1 where a marker may begin, 2 where one of a single byte does, 3 where an escape may spell its first character. */
  readonly #kinds = new Uint8Array(256);
  readonly #seconds = new Set<number>();
  readonly #codes = new Set<number>();

  constructor(markers: readonly string[]) {
    this.#kinds[BACKSLASH] = 3;
    for (const marker of markers) {
      const [first = 0, second] = Buffer.from(marker);
      this.#codes.add(marker.charCodeAt(0));
      if (second === undefined) this.#kinds[first] = 2;
      else {
        this.#kinds[first] ||= 1;
        this.#seconds.add(first * 256 + second);
      }
    }
  }

  /** Between the offsets no marker begins, neither as it is nor with an escape. */
  isFree(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      const kind = this.#kinds[bytes[at] as number];
      if (kind === 0) continue;
      if (kind !== 3) {
        if (kind === 2 || this.#mayGoOn(bytes, at, to)) return false;
      } else {
        if (this.#codes.has(escapedCode(bytes, at))) return false;
        at++;
      }
    }
    return true;
  }

  #mayGoOn(bytes: Uint8Array, at: number, to: number): boolean {
    const second = bytes[at + 1] as number;
    return at + 1 === to || second === BACKSLASH || this.#seconds.has((bytes[at] as number) * 256 + second);
  }
}

/** The character that an escape means, as far as it could begin a marker. */
function escapedCode(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1] as number;
  if (kind === LOWER_N) return LINE_FEED;
  if (kind !== LOWER_U) return kind;
  return Number.parseInt(String.fromCharCode(...bytes.subarray(at + 2, at + 6)), 16);
}

/** What the bytes inside of a JSON string leave their line with; `undefined` where what came before decides. */
export function lineBehind(bytes: Uint8Array, from: number, to: number): LineState | undefined {
  let at = to;
  while (at > from && bytes[at - 1] === SPACE) at--;
  if (at === from) return undefined;
  if (at - 2 < from || bytes[at - 2] !== BACKSLASH) return "text";
  if (bytes[at - 1] !== LOWER_N) return undefined;
  let slashes = 0;
  while (at - 2 - slashes >= from && bytes[at - 2 - slashes] === BACKSLASH) slashes++;
  if (slashes % 2 === 0) return "text";
  return at === to ? "start" : "indent";
}

/** What a line holds once text has been added. */
export function lineAfter(before: LineState, text: string): LineState {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  if (line === "") return text === "" ? before : "start";
  const isNew = line.length < text.length || before !== "text";
  return isNew && /^[ \t\r]*$/.test(line) ? "indent" : "text";
}
