import type { Grammar, Opener } from "./grammar.ts";
import { Markers } from "./text-input.ts";

/** What opens and closes a code fence. */
export const FENCES: readonly string[] = ["```", "~~~"];
/** What opens and closes reasoning, unless a grammar says otherwise. */
export const THINK = ["<think>", "</think>"] as const;

/** A grammar as the machine needs it, made once for all replies. */
export interface Plan {
  grammar: Grammar;
  openers: readonly Opener[];
  opensReasoning: string;
  closesReasoning: string;
  drops: readonly string[];
  inText: Markers;
  inThought: Markers;
}

/** Makes the plan of a grammar, with those of its openers that count. */
export function planOf(grammar: Grammar, openers: readonly Opener[]): Plan {
  const { reasoning = THINK, drops = [], tokens } = grammar;
  const [opensReasoning, closesReasoning] = reasoning;
  const fences = tokens ? [] : FENCES;
  const sure = openers.filter(({ ambiguous }) => !ambiguous);
  return {
    grammar,
    openers,
    opensReasoning,
    closesReasoning,
    drops,
    inText: new Markers([...new Set([...openers.map(markerOf), opensReasoning, ...fences, ...drops])]),
    inThought: new Markers([...new Set([closesReasoning, ...sure.map(markerOf)])]),
  };
}

/** The string at which calls may begin. */
export const markerOf = ({ marker }: Opener) => marker;
