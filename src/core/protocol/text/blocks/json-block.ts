import type { Block } from "../machine/grammar.ts";
import { Markers, NO_MARKERS, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import type { CallShape } from "./call-keys.ts";
import { FENCE, skipEnd, skipFence } from "./fence.ts";
import { type CallSource, type Found, readCall } from "./json-call.ts";

/** Calls written as JSON objects behind a marker. */
export interface JsonBlock {
  marker: string;
  /** A second token that must follow the marker. */
  second?: string;
  /** What may close the block. It may be missing. */
  close?: readonly string[];
  shape?: CallShape;
}

/** Calls between a marker and its end. Objects may stand alone, one behind the other or in an array; a fence around them is no part of them. */
export function jsonBlock({ marker, second, close = [], shape = {} }: JsonBlock): Block {
  const stops = new Markers([...close, marker, "```"]);
  const ends = new Markers(close);
  const seconds = new Markers(second === undefined ? [] : [second]);
  return function* (input, out, context) {
    input.at += marker.length;
    yield* skipBlanks(input);
    if (second !== undefined && (yield* seconds.skip(input)) === undefined) return false;
    yield* skipBlanks(input);
    yield* skipFence(input);
    if (!opensJson(yield* skipBlanks(input))) return false;
    const found = yield* readCalls({ input, out, context, shape, stops });
    if (found !== "cut") yield* skipEnd(input, ends);
    // What is cut off here is markup without a meaning.
    return found !== "none";
  };
}

/** A call at the beginning of a line that nothing but its own keys announces. */
export function bareBlock(shape: CallShape = {}): Block {
  return function* (input, out, context) {
    const found = yield* readCalls({
      input,
      out,
      context,
      shape: { ...shape, bare: true },
      stops: NO_MARKERS,
    });
    return found === "call";
  };
}

/** Calls in a code fence that may have a line of its own before it. */
export function fencedBlock(shape: CallShape = {}, label = ""): Block {
  return function* (input, out, context) {
    input.at += label.length;
    if (label !== "") yield* skipBlanks(input);
    if (!(yield* skipFence(input)) || !opensJson(yield* skipBlanks(input))) return false;
    const source = { input, out, context, shape: { ...shape, bare: true as const }, stops: FENCE };
    if ((yield* readCalls(source)) !== "call") return false;
    yield* skipEnd(input, NO_MARKERS);
    return true;
  };
}

const opensJson = (next: string) => next === "{" || next === "[";

interface List {
  open: number;
  found: Found;
}

/** Reads calls up to something that is none. */
function* readCalls(source: CallSource): Reading<Found> {
  const { input } = source;
  const list: List = { open: 0, found: "none" };
  for (;;) {
    const mark = input.mark();
    const going = yield* readNext(source, list);
    if (going === "back") input.back(mark);
    else input.release();
    if (going !== "on") return list.found;
  }
}

/** One more call of a list. `back`: what came last does not belong to it. */
function* readNext(source: CallSource, list: List): Reading<"on" | "done" | "back"> {
  const reached = yield* toObject(source.input, list);
  if (reached !== "on") return reached;
  // In an array that has a call, the other objects are calls too.
  const { bare, ...sure } = source.shape;
  const any = list.found === "call";
  const inside = list.open > 0 && any;
  const one = yield* readCall(inside ? { ...source, shape: sure } : source);
  if (one !== "call" && bare && !inside) return "back";
  if (one !== "none" && !any) list.found = one;
  return one === "cut" ? "done" : "on";
}

/** Goes on to the next object. */
function* toObject(input: TextInput, list: List): Reading<"on" | "done" | "back"> {
  for (;;) {
    const next = yield* skipBlanks(input);
    if (next === "{") return "on";
    if (next === "" && list.found === "none") list.found = "cut";
    if (!passBetween(input, list)) return "back";
    if (next === "]" && list.open === 0) return "done";
  }
}

/** Passes over what may stand between the objects of a list. */
function passBetween(input: TextInput, list: List): boolean {
  const { next } = input;
  const any = list.found === "call";
  if (next === "[" && (list.open > 0 || !any)) list.open++;
  else if (next === "]" && list.open > 0) list.open--;
  else if (next === "" || !",;}".includes(next) || !(any || list.open > 0)) return false;
  input.at++;
  return true;
}
