import { passJson } from "./json-value.ts";
import { lineAfter } from "./marker-scan.ts";
import { Output } from "./output.ts";
import type { Emit, LineState, ReaderContext, TextFormat, TextReader } from "./reader.ts";
import { Markers, peek, type Reading, TextInput } from "./text-input.ts";

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

const FENCES = ["```", "~~~"];
const THINK = ["<think>", "</think>"] as const;

/** The format that a grammar describes. */
export function grammarFormat(grammar: Grammar): GrammarFormat {
  const [open, close] = grammar.reasoning ?? THINK;
  const openers = grammar.openers.map(({ marker }) => marker);
  const hiding = grammar.tokens ? [] : ["`", "~~~"];
  return {
    grammar,
    names: grammar.names,
    // Of reasoning only the end is looked for. A single backtick keeps markup behind it from being read.
    markers: [...new Set([...openers, open, close, ...(grammar.drops ?? []), ...hiding])],
    closesReasoning: close,
    reader: (context) => new GrammarReader(grammar, context),
  };
}

/**
 * The machine behind every grammar.
 *
 * 1. Only the longest end of the text that may begin a marker waits for more; what no marker follows is text.
 * 2. Nothing in a code fence, and nothing right behind a backtick, is markup.
 * 3. A think block that is closed is all reasoning, calls in it too. One that is not closed ends at its first call; so what
 *    looks like one there waits for the end of the block or of the reply.
 * 4. JSON that turned out to be no call is text up to its end.
 */
class GrammarReader implements TextReader {
  readonly #input = new TextInput();
  readonly #out = new Output();
  readonly #context: ReaderContext;
  readonly #openers: readonly Opener[];
  readonly #reasoning: readonly [open: string, close: string];
  readonly #drops: readonly string[];
  readonly #byLine: boolean;
  readonly #tokens: boolean;
  readonly #opening: Block | undefined;
  readonly #inText: Markers;
  readonly #inThought: Markers;
  readonly #steps: Reading<void>;
  #line: LineState = "start";
  #previous = "";
  /** Ambiguous strings may still open calls. */
  #guesses = true;
  /** What the reading stands in, where that is plain text or plain reasoning. */
  #resting: "content" | "reasoning" | undefined;

  constructor(grammar: Grammar, context: ReaderContext) {
    const { openers, reasoning = THINK, drops = [], byLine = false, tokens = false } = grammar;
    this.#context = context;
    this.#openers = tokens || context.tools.size > 0 ? openers : [];
    this.#tokens = tokens;
    this.#opening = grammar.opening;
    const fences = tokens ? [] : FENCES;
    this.#reasoning = reasoning;
    this.#drops = drops;
    this.#byLine = byLine;
    const markers = this.#openers.map(({ marker }) => marker);
    const sure = this.#openers.filter(({ ambiguous }) => !ambiguous).map(({ marker }) => marker);
    this.#inText = new Markers([...new Set([...markers, reasoning[0], ...fences, ...drops])]);
    this.#inThought = new Markers([...new Set([reasoning[1], ...sure])]);
    this.#steps = this.#read();
    this.#steps.next();
  }

  get idle(): "content" | "reasoning" | undefined {
    if (!this.#input.empty || (this.#resting === "content" && !this.#out.plain)) return undefined;
    return this.#byLine && this.#line !== "text" ? undefined : this.#resting;
  }

  push(text: string, emit: Emit): void {
    this.#out.to(emit);
    this.#input.add(text);
    this.#steps.next();
  }

  passed(line: LineState): void {
    this.#line = line;
    this.#previous = "";
  }

  end(emit: Emit): void {
    this.#out.to(emit);
    this.#input.end();
    this.#steps.next();
  }

  *#read(): Reading<void> {
    if (this.#context.reasoningPrefilled) yield* this.#thought();
    if (this.#opening) yield* this.#try(this.#opening);
    for (;;) {
      const { marker, at } = this.#inText.find(this.#input);
      this.#text(this.#input.take(at));
      if (marker !== undefined) yield* this.#markup(marker);
      else if (this.#input.ended) {
        this.#text(this.#input.take(this.#input.text.length));
        return;
      } else yield* this.#rest("content");
    }
  }

  *#rest(kind: "content" | "reasoning"): Reading<void> {
    this.#resting = kind;
    yield;
    this.#resting = undefined;
  }

  /** What begins like markup. */
  *#markup(marker: string): Reading<void> {
    const isFence = FENCES.includes(marker);
    const mayFence = isFence && this.#line !== "text";
    if (yield* this.#calls(marker)) this.passed("start");
    else if (marker === this.#reasoning[0] && this.#previous !== "`") {
      this.#input.at += marker.length;
      this.#out.markup();
      yield* this.#thought();
    } else if (this.#drops.includes(marker) && this.#previous !== "`") {
      this.#input.at += marker.length;
    } else if (mayFence) yield* this.#fence(marker.charAt(0));
    else if ((marker === "{" || marker === "[") && this.#line === "start")
      yield* passJson(this.#input, (text) => this.#text(text));
    else this.#text(this.#input.take(this.#input.at + 1));
  }

  /** Tries the openers of a marker; `false` leaves everything as it was. */
  *#calls(marker: string): Reading<boolean> {
    if (this.#previous === "`") return false;
    for (const opener of this.#openers) {
      if (opener.marker !== marker) continue;
      if (opener.ambiguous && !this.#mayGuess(marker)) continue;
      if (yield* this.#try(opener.block)) return true;
      // What was read to the end in vain is not read from each further line to the end again.
      if (opener.ambiguous && this.#input.ended) this.#guesses = false;
    }
    return false;
  }

  #mayGuess(marker: string): boolean {
    return this.#guesses && (this.#line === "start" || FENCES.includes(marker));
  }

  /** Reads a block; `false` leaves everything as it was. */
  *#try(block: Block): Reading<boolean> {
    const mark = this.#input.mark();
    const read = yield* block(this.#input, this.#out, this.#context);
    if (read) this.#input.release();
    else this.#input.back(mark);
    return read;
  }

  /** Reads reasoning up to the end of its block, or to a call in a block that is never closed. */
  *#thought(): Reading<void> {
    const [, close] = this.#reasoning;
    for (;;) {
      const { marker, at } = this.#inThought.find(this.#input);
      this.#think(this.#input.take(at));
      if (marker === close) return this.#closeThought();
      if (marker !== undefined) {
        if (yield* this.#callInThought(marker)) return;
      } else if (this.#input.ended) {
        this.#think(this.#input.take(this.#input.text.length));
        return;
      } else yield* this.#rest("reasoning");
    }
  }

  #closeThought(): void {
    this.#input.at += this.#reasoning[1].length;
    this.#out.markup();
    this.passed("start");
  }

  /** `true`: the reasoning is over. */
  *#callInThought(marker: string): Reading<boolean> {
    const mark = this.#input.mark();
    this.#out.record();
    if (!(yield* this.#calls(marker))) {
      this.#out.settle(false);
      this.#input.release();
      this.#think(this.#input.take(this.#input.at + 1));
      return false;
    }
    const closed = yield* this.#behindCallInThought();
    this.#out.settle(!closed);
    const thought = this.#input.since(mark);
    this.#input.release();
    if (!closed) return true;
    this.#think(thought);
    this.#closeThought();
    return true;
  }

  /** Goes on to the end of the think block (`true`) or of the text. */
  *#behindCallInThought(): Reading<boolean> {
    for (;;) {
      const { marker, at } = this.#inThought.find(this.#input);
      this.#text(this.#input.take(at));
      if (marker === this.#reasoning[1]) return true;
      if (marker !== undefined) {
        if (!(yield* this.#calls(marker))) this.#text(this.#input.take(this.#input.at + 1));
      } else if (this.#input.ended) {
        this.#text(this.#input.take(this.#input.text.length));
        return false;
      } else yield;
    }
  }

  /** Passes over a code fence. Nothing but its own closing line ends it; more backticks in its first line show that it is none. */
  *#fence(mark: string): Reading<void> {
    const width = yield* this.#run(mark);
    const fence = new Markers([mark.repeat(3), "\n"]);
    let firstLine = true;
    for (;;) {
      const { marker, at } = fence.find(this.#input);
      this.#text(this.#input.take(at));
      if (marker === undefined) {
        if (this.#input.ended) return;
        if (firstLine) yield;
        else yield* this.#rest("content");
        continue;
      }
      if (marker === "\n") {
        firstLine = false;
        this.#text(this.#input.take(at + 1));
        continue;
      }
      const opensLine = this.#line !== "text";
      const found = yield* this.#run(mark);
      if (firstLine) return;
      if (opensLine && found >= width && (yield* this.#lineIsOver())) return;
    }
  }

  /** Passes over a run of one character, as text; returns how many they are. */
  *#run(character: string): Reading<number> {
    let count = 0;
    while ((yield* peek(this.#input)) === character) {
      this.#input.at++;
      count++;
    }
    this.#text(character.repeat(count));
    return count;
  }

  *#lineIsOver(): Reading<boolean> {
    for (;;) {
      const next = yield* peek(this.#input);
      if (next !== " " && next !== "\t" && next !== "\r") return next === "" || next === "\n";
      this.#text(this.#input.take(this.#input.at + 1));
    }
  }

  #text(text: string): void {
    this.#follow(text);
    this.#out.content(text);
  }

  #think(text: string): void {
    this.#follow(text);
    this.#out.reasoning(text);
  }

  #follow(text: string): void {
    if (text === "") return;
    this.#line = lineAfter(this.#line, text);
    this.#previous = this.#tokens ? "" : text.charAt(text.length - 1);
  }
}
