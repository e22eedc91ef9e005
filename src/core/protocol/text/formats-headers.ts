import type { GrammarFormat } from "./grammar.ts";
import { grammarFormat } from "./grammar-reader.ts";
import { HARMONY_ENDS, HARMONY_MARKERS, harmonyMessage, harmonyOpening } from "./harmony.ts";
import { REACT_MARKERS, reactLine } from "./react.ts";

/** Formats in which headers or labels say what the text behind them is. */
export const HEADER_FORMATS: readonly GrammarFormat[] = [
  grammarFormat({
    names: ["harmony"],
    tokens: true,
    opening: harmonyOpening,
    drops: HARMONY_ENDS,
    openers: HARMONY_MARKERS.map((marker) => ({ marker, block: harmonyMessage })),
  }),
  grammarFormat({
    names: ["react"],
    byLine: true,
    openers: REACT_MARKERS.map((marker) => ({ marker, block: reactLine, ambiguous: true })),
  }),
];
