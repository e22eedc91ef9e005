import { flow } from "../machine/lookahead.ts";
import { Markers, peek, type Reading, type TextInput } from "../machine/text-input.ts";
import type { Quote } from "./loose-literal.ts";

const OPEN = ["(", "[", "{"];
const CLOSE = [")", "]", "}"];

/** Text in brackets, and how it ended. */
export interface InBrackets {
  text: string;
  end: "closed" | "cut" | "deep";
}

/** A call of which nothing is certain before its end may have as many brackets open at once. */
export const MAX_BRACKETS = 64;

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
   * The text from the bracket at which the input stands to the one that closes it, without the two. `cut`: the reply ended before;
   * `deep`: more than `maxDepth` brackets are open at once, and it is not read any further.
   */
  *read(input: TextInput, maxDepth = Infinity): Reading<InBrackets> {
    const pieces: string[] = [];
    const take = (text: string) => pieces.push(text);
    let depth = 0;
    for (;;) {
      const marker = yield* flow(input, this.#outside, take);
      if (marker === undefined) return { text: pieces.join("").slice(1), end: "cut" };
      take(input.take(input.at + marker.length));
      const quote = this.#quotes.find(({ mark }) => mark === marker);
      if (quote) yield* this.#string(input, quote, take);
      else depth += OPEN.includes(marker) ? 1 : -1;
      if (depth > maxDepth) return { text: "", end: "deep" };
      if (depth === 0) return { text: pieces.join("").slice(1, -1), end: "closed" };
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
