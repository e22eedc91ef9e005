import { lineAfter } from "../marker-scan.ts";
import type { Emit, LineState, ReaderContext, TextReader } from "../reader.ts";
import type { Block, Grammar, GrammarFormat } from "./grammar.ts";
import { Output } from "./output.ts";
import { passJson } from "./pass-json.ts";
import { FENCES, markerOf, type Plan, planOf, THINK } from "./plan.ts";
import { Markers, NO_MARKERS, peek, type Reading, TextInput } from "./text-input.ts";

/** Markers of one reply that are looked at, each with what follows it; no answer and no turn of calls has as many. */
const MAX_STOPS = 32_768;

/** The format that a grammar describes. */
export function grammarFormat(grammar: Grammar): GrammarFormat {
  const { names, openers, reasoning = THINK, drops = [], tokens } = grammar;
  const withTools = planOf(grammar, openers);
  const withoutTools = planOf(grammar, tokens ? openers : []);
  // A single backtick keeps markup behind it from being read.
  const hiding = tokens ? [] : ["`", "~~~"];
  return {
    grammar,
    names,
    markers: [...new Set([...openers.map(markerOf), ...reasoning, ...drops, ...hiding])],
    closesReasoning: reasoning[1],
    reader: (context) => new GrammarReader(context.tools.size > 0 ? withTools : withoutTools, context),
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
 * 5. Behind `MAX_STOPS` markers all is text, or reasoning where it stands in that.
 */
class GrammarReader implements TextReader {
  readonly #input = new TextInput();
  readonly #out = new Output();
  readonly #plan: Plan;
  readonly #context: ReaderContext;
  readonly #steps: Reading<void>;
  #line: LineState = "start";
  #previous = "";
  /** Ambiguous strings may still open calls. */
  #guesses = true;
  /** Markers that have been looked at. */
  #stops = 0;
  /** What the reading stands in, where that is plain text or plain reasoning. */
  #resting: "content" | "reasoning" | undefined;

  constructor(plan: Plan, context: ReaderContext) {
    this.#plan = plan;
    this.#context = context;
    this.#steps = this.#read();
    this.#steps.next();
  }

  get idle(): "content" | "reasoning" | undefined {
    if (!this.#input.empty || (this.#resting === "content" && !this.#out.plain)) return undefined;
    return this.#plan.grammar.byLine && this.#line !== "text" ? undefined : this.#resting;
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
    const { inText, grammar } = this.#plan;
    if (this.#context.reasoningPrefilled) yield* this.#thought();
    if (grammar.opening) yield* this.#try(grammar.opening);
    for (;;) {
      const { marker, at } = this.#find(inText);
      this.#text(this.#input.take(at));
      if (marker !== undefined) yield* this.#markup(marker);
      else if (this.#input.ended) {
        this.#text(this.#input.take(this.#input.text.length));
        return;
      } else yield* this.#rest("content");
    }
  }

  /** The next of the markers; none any more in a reply that has had too many. */
  #find(markers: Markers): { marker: string | undefined; at: number } {
    const found = (this.#stops > MAX_STOPS ? NO_MARKERS : markers).find(this.#input);
    if (found.marker !== undefined) this.#stops++;
    return found;
  }

  *#rest(kind: "content" | "reasoning"): Reading<void> {
    this.#resting = kind;
    yield;
    this.#resting = undefined;
  }

  /** What begins like markup. */
  *#markup(marker: string): Reading<void> {
    const { opensReasoning, drops } = this.#plan;
    const isFence = FENCES.includes(marker);
    const mayFence = isFence && this.#line !== "text";
    if (yield* this.#calls(marker)) this.passed("start");
    else if (marker === opensReasoning && this.#previous !== "`") {
      this.#input.at += marker.length;
      this.#out.markup();
      yield* this.#thought();
    } else if (drops.includes(marker) && this.#previous !== "`") {
      this.#input.at += marker.length;
    } else if (mayFence) yield* this.#fence(marker.charAt(0));
    else if ((marker === "{" || marker === "[") && this.#line === "start")
      yield* passJson(this.#input, (text) => this.#text(text));
    else this.#text(this.#input.take(this.#input.at + 1));
  }

  /** Tries the openers of a marker; `false` leaves everything as it was. */
  *#calls(marker: string): Reading<boolean> {
    if (this.#previous === "`") return false;
    for (const opener of this.#plan.openers) {
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
    const { inThought, closesReasoning } = this.#plan;
    for (;;) {
      const { marker, at } = this.#find(inThought);
      this.#think(this.#input.take(at));
      if (marker === closesReasoning) return this.#closeThought();
      if (marker !== undefined) {
        if (yield* this.#callInThought(marker)) return;
      } else if (this.#input.ended) {
        this.#think(this.#input.take(this.#input.text.length));
        return;
      } else yield* this.#rest("reasoning");
    }
  }

  #closeThought(): void {
    this.#input.at += this.#plan.closesReasoning.length;
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
      const { marker, at } = this.#find(this.#plan.inThought);
      this.#text(this.#input.take(at));
      if (marker === this.#plan.closesReasoning) return true;
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
    let marks = new Markers([mark.repeat(3), "\n"]);
    let firstLine = true;
    for (;;) {
      const { marker, at } = this.#find(marks);
      this.#text(this.#input.take(at));
      if (marker === undefined) {
        if (this.#input.ended) return;
        if (firstLine) yield;
        else yield* this.#rest("content");
        continue;
      }
      if (marker === "\n") {
        firstLine = false;
        marks = new Markers([mark.repeat(3)]);
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
    this.#previous = this.#plan.grammar.tokens ? "" : text.charAt(text.length - 1);
  }
}
