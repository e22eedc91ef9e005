import type { LineState } from "./reader.ts";

const BACKSLASH = 0x5c;
const LOWER_N = 0x6e;
const LOWER_U = 0x75;
const LINE_FEED = 0x0a;
const SPACE = 0x20;

/** Tells from the bytes inside of a JSON string whether a marker may begin in them. */
export class MarkerScan {
  /** By byte: a first character of a marker may begin here, or be spelled as an escape. */
  readonly #looks = new Uint8Array(256);
  readonly #codes = new Set<number>();

  constructor(markers: readonly string[]) {
    this.#looks[BACKSLASH] = 1;
    for (const marker of markers) {
      this.#codes.add(marker.charCodeAt(0));
      this.#looks[Buffer.from(marker)[0] as number] = 1;
    }
  }

  /** No first character of a marker stands between the offsets, neither as it is nor as an escape. */
  isFree(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      if (this.#looks[bytes[at] as number] === 0) continue;
      if (bytes[at] !== BACKSLASH || this.#codes.has(escapedCode(bytes, at))) return false;
      at++;
    }
    return true;
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
  if (bytes[at - 1] !== LOWER_N || bytes[at - 2] !== BACKSLASH || at - 2 < from) return "text";
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
  return isNew && line.trim() === "" ? "indent" : "text";
}
