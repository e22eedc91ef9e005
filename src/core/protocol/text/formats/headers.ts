import { HARMONY_ENDS, HARMONY_MARKERS, harmonyMessage, harmonyOpening } from "../blocks/harmony.ts";
import { REACT_MARKERS, reactLine } from "../blocks/react.ts";
import type { GrammarFormat } from "../machine/grammar.ts";
import { grammarFormat } from "../machine/grammar-reader.ts";

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
