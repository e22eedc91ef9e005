import { flow } from "./lookahead.ts";
import type { Quote } from "./loose-literal.ts";
import { Markers, peek, type Reading, type TextInput } from "./text-input.ts";

const OPEN = ["(", "[", "{"];
const CLOSE = [")", "]", "}"];

/** Passes over text in brackets; strings in it, in quotes of a format's own choice, are data. */
export class Brackets {
  readonly #quotes: readonly Quote[];
  readonly #outside: Markers;
  readonly #inside: ReadonlyMap<Quote, Markers>;

  constructor(quotes: readonly Quote[]) {
    this.#quotes = quotes;
    this.#outside = new Markers([...OPEN, ...CLOSE, ...quotes.map(({ mark }) => mark)]);
    this.#inside = new Map(
      quotes.map((quote) => [quote, new Markers(quote.escapes ? [quote.mark, "\\"] : [quote.mark])]),
    );
  }

  /**
   * The text from the bracket at which the input stands to the one that closes it, without the two. Not `whole`: the reply ended
   * before.
   */
  *read(input: TextInput): Reading<{ text: string; whole: boolean }> {
    const pieces: string[] = [];
    const take = (text: string) => pieces.push(text);
    let depth = 0;
    for (;;) {
      const marker = yield* flow(input, this.#outside, take);
      if (marker === undefined) return { text: pieces.join("").slice(1), whole: false };
      take(input.take(input.at + marker.length));
      const quote = this.#quotes.find(({ mark }) => mark === marker);
      if (quote) yield* this.#string(input, quote, take);
      else depth += OPEN.includes(marker) ? 1 : -1;
      if (depth === 0) return { text: pieces.join("").slice(1, -1), whole: true };
    }
  }

  *#string(input: TextInput, quote: Quote, take: (text: string) => void): Reading<void> {
    const inside = this.#inside.get(quote) ?? this.#outside;
    for (;;) {
      const marker = yield* flow(input, inside, take);
      if (marker === undefined) return;
      take(input.take(input.at + marker.length));
      if (marker === quote.mark) return;
      yield* peek(input);
      take(input.take(input.at + 1));
    }
  }
}
