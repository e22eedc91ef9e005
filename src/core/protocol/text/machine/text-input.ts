/** Text that a reader gives back must be kept; more than this is no call that anybody could use. */
const MAX_KEPT = 4 * 1024 * 1024;

/** A place to return to. */
export interface Mark {
  readonly piece: number;
  readonly at: number;
}

/**
 * The text of a reply as a grammar reads it: what has come and is not used up. A grammar is a generator that yields when it needs
 * more; since it decides by characters alone, the cut of the text changes nothing.
 *
 * 1. `text` begins where the reader stands or before, and `at` is where it stands. Neither survives a `yield`: offsets into `text` do
 *    not.
 * 2. A high surrogate at the end of a piece waits for its other half.
 * 3. Text behind a mark is kept, at most 4 MiB of it (then `add` throws a `RangeError`), until the mark is released.
 */
export class TextInput {
  text = "";
  at = 0;
  /** No more text comes. */
  ended = false;
  #half = "";
  #kept: string[] = [];
  #keptLength = 0;
  #marks = 0;

  /** Takes a further piece. */
  add(piece: string): void {
    this.#compact();
    const joined = this.#half + piece;
    const last = joined.charCodeAt(joined.length - 1);
    const whole = last >= 0xd800 && last <= 0xdbff ? joined.length - 1 : joined.length;
    this.#half = joined.slice(whole);
    this.text += joined.slice(0, whole);
  }

  /** Says that no more comes; half a character that is left over is text like any other. */
  end(): void {
    this.text += this.#half;
    this.#half = "";
    this.ended = true;
  }

  /** Everything that has come is used up, and nothing is kept. */
  get empty(): boolean {
    return this.at === this.text.length && this.#half === "" && this.#marks === 0;
  }

  /** All that has come is read. */
  get drained(): boolean {
    return this.at === this.text.length;
  }

  /** The character at which the reader stands; `""` where nothing is left for now. */
  get next(): string {
    return this.text.charAt(this.at);
  }

  /** Uses up the text before an offset and returns it. */
  take(to: number): string {
    const taken = this.text.slice(this.at, to);
    this.at = to;
    return taken;
  }

  /** From here on text is kept, so that `back` can return to it. */
  mark(): Mark {
    this.#marks++;
    return { piece: this.#kept.length, at: this.at };
  }

  /** Returns to a mark, which is gone then, as are all later ones. Costs nothing where all is still in `text`. */
  back({ piece, at }: Mark): void {
    this.#marks--;
    if (piece === this.#kept.length) {
      this.at = at;
      return;
    }
    const [first = "", ...later] = this.#kept.splice(piece);
    const restored = first.slice(at) + later.join("");
    this.text = restored + this.text;
    this.at = 0;
    if (at > 0) this.#kept.push(first.slice(0, at));
    this.#keptLength -= restored.length;
    if (this.#marks === 0) this.#forget();
  }

  /** The text behind a mark up to where the reader stands. */
  since({ piece, at }: Mark): string {
    if (piece === this.#kept.length) return this.text.slice(at, this.at);
    const [first = "", ...later] = this.#kept.slice(piece);
    return first.slice(at) + later.join("") + this.text.slice(0, this.at);
  }

  /** Gives up a mark: there will be no return to it. */
  release(): void {
    this.#marks--;
    if (this.#marks === 0) this.#forget();
  }

  #forget(): void {
    this.#kept = [];
    this.#keptLength = 0;
  }

  #compact(): void {
    if (this.#marks > 0 && this.at > 0) {
      this.#kept.push(this.text.slice(0, this.at));
      this.#keptLength += this.at;
      if (this.#keptLength > MAX_KEPT) throw new RangeError(`a call of more than ${MAX_KEPT} characters`);
    }
    this.text = this.text.slice(this.at);
    this.at = 0;
  }
}

/** A part of a grammar: yields where it needs more text. */
export type Reading<T> = Generator<void, T, void>;

/** Waits until a character is there; `""` at the end of the text. */
export function* peek(input: TextInput): Reading<string> {
  while (input.drained && !input.ended) yield;
  return input.next;
}

const BLANK = /\s*/y;

/** Passes over white space and returns the character behind it; `""` at the end of the text. */
export function* skipBlanks(input: TextInput): Reading<string> {
  for (;;) {
    BLANK.lastIndex = input.at;
    input.at += BLANK.exec(input.text)?.[0].length ?? 0;
    if (!input.drained || input.ended) return input.next;
    yield;
  }
}

/** Strings to look for together. */
export class Markers {
  readonly #list: readonly string[];
  readonly #longest: number;
  readonly #pattern: RegExp;

  constructor(list: readonly string[]) {
    this.#list = [...list].sort((a, b) => b.length - a.length);
    this.#longest = this.#list[0]?.length ?? 0;
    const escaped = this.#list.map((marker) => marker.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    this.#pattern = new RegExp(escaped.join("|") || "(?!)", "g");
  }

  /** The first of them in the text that has come, and where. Without one, where at the end of the text one may begin. */
  find({ text, at, ended }: TextInput): { marker: string | undefined; at: number } {
    this.#pattern.lastIndex = at;
    const found = this.#pattern.exec(text);
    const limit = found?.index ?? text.length;
    // One that is not all there yet may begin before the one that was found, or be the longer of two that begin alike.
    const held = ended ? limit : Math.max(at, text.length - this.#longest + 1);
    for (let from = held; from <= limit && !ended && from < text.length; from++) {
      if (this.#mayGrow(text.slice(from))) return { marker: undefined, at: from };
    }
    return { marker: found?.[0], at: limit };
  }

  /** Whether a text is what one of them begins with. */
  begins(text: string): boolean {
    return this.#list.some((marker) => marker.startsWith(text));
  }

  /** The one at which the reader stands; waits while it may still become one. */
  *here(input: TextInput): Reading<string | undefined> {
    for (;;) {
      if (input.ended || !this.#mayGrow(input.text.slice(input.at, input.at + this.#longest)))
        return this.#list.find((marker) => input.text.startsWith(marker, input.at));
      yield;
    }
  }

  /** Whether a text is the beginning of one of them, and not all of it. */
  #mayGrow(text: string): boolean {
    if (text.length >= this.#longest) return false;
    return this.#list.some((marker) => marker.length > text.length && marker.startsWith(text));
  }

  /** Passes over one of them, if the reader stands at one. */
  *skip(input: TextInput): Reading<string | undefined> {
    const found = yield* this.here(input);
    input.at += found?.length ?? 0;
    return found;
  }
}

/** Nothing to look for. */
export const NO_MARKERS = new Markers([]);
