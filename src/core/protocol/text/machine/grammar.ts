import type { ReaderContext, TextFormat } from "../reader.ts";
import type { Output } from "./output.ts";
import type { Reading, TextInput } from "./text-input.ts";

/**
 * Reads the calls behind a marker; the input stands at the marker itself. `false`: it is no call, nothing was given out, and the text is
 * read again from the marker's second character.
 */
export type Block = (input: TextInput, out: Output, context: ReaderContext) => Reading<boolean>;

/** A string at which calls may begin. */
export interface Opener {
  marker: string;
  block: Block;
  /**
   * The string stands in ordinary text too: it opens a call at the beginning of a line only (a fence anywhere), and never
   * while the model thinks.
   */
  ambiguous?: true;
}

/** A format in which text, reasoning and calls alternate: data for the one machine that reads them all. */
export interface Grammar {
  names: readonly string[];
  openers: readonly Opener[];
  /** What opens and closes reasoning; `<think>` unless it says otherwise. */
  reasoning?: readonly [open: string, close: string];
  /** Tokens without meaning for anybody but the model, left out of the text. */
  drops?: readonly string[];
  /** Openers that begin with a letter at the beginning of a line: every line's beginning is read. */
  byLine?: true;
  /**
   * The markers are tokens of their own, which no text spells: neither a fence nor a backtick hides one, and they mean the same
   * without tools.
   */
  tokens?: true;
  /** What a reply may begin with in place of text. */
  opening?: Block;
}

/** A format that is data. */
export interface GrammarFormat extends TextFormat {
  grammar: Grammar;
}
