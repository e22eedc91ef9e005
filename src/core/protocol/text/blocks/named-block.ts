import type { Block } from "../machine/grammar.ts";
import { Markers, peek, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import { declaredName } from "./declared.ts";
import { skipEnd, skipFence } from "./fence.ts";
import { type CallSource, readCall, readNamedCall } from "./json-call.ts";
import { SchemaView } from "./schema-view.ts";

/** Calls whose name stands before their arguments. */
export interface NamedBlock {
  /** Empty for what a reply may begin with. */
  marker: string;
  /** What ends the name; a brace belongs to the arguments. */
  ends: readonly string[];
  /** Ends the name where an id stands between it and the arguments. */
  beforeId?: string;
  close?: readonly string[];
  /** Other markers that end the arguments, and stay. */
  next?: readonly string[];
  /** The header is an id that the model wants back: `functions.NAME:N`. */
  headerIsId?: true;
  /** Under this header the name stands in a line of its own. */
  nameInLine?: string;
  /** Under this name follows text for the user; any other must be declared, and text behind it is for a tool that takes one. */
  textName?: string;
  /** The arguments are a whole call, with the name in it once more. */
  wholeCall?: true;
}

/** Longer than any name with an id. */
const MAX_HEADER = 160;
const IN_HEADER = /[\w.:\-/ \t\n]/;
const LINE = new Markers(["\n", "{", "`"]);

interface Header {
  name: string;
  id: string | undefined;
}

/**
 * A call behind a marker: its name, a separator, its arguments. What cannot be a name, and arguments that are neither an object
 * nor what a row allows in its place, give the marker back as text.
 */
export function namedBlock(row: NamedBlock): Block {
  const stops = new Markers(
    [row.marker, ...(row.close ?? []), ...(row.next ?? [])].filter((text) => text !== ""),
  );
  const readHeader = headerReader(row);
  const ends = new Markers(row.close ?? []);
  return function* (input, out, context) {
    input.at += row.marker.length;
    const header = yield* readHeader(input);
    if (header === undefined) return false;
    if (header === "cut") return row.marker !== "";
    if (header.name === row.textName) return true;
    const name = declaredName(header.name, context);
    if (name === "" || (row.textName !== undefined && !context.tools.has(name))) return false;
    const read = yield* readBody(row, { input, out, context, shape: {}, stops }, { ...header, name });
    if (read) yield* skipEnd(input, ends);
    return read;
  };
}

/** Reads the arguments; `false` where there are none to read. */
function* readBody(row: NamedBlock, source: CallSource, { name, id }: Header): Reading<boolean> {
  const { input, out, context, stops } = source;
  yield* skipBlanks(input);
  yield* skipFence(input);
  const next = yield* skipBlanks(input);
  if (next === "") {
    out.call(name, id);
    return true;
  }
  if (row.wholeCall && next === "{") return (yield* readCall(source)) !== "none";
  const isEmpty = (yield* stops.here(input)) !== undefined;
  const isText = row.textName !== undefined && new SchemaView(context.tools.get(name)).onlyText !== undefined;
  if (next !== "{" && !isEmpty && !isText) return false;
  yield* readNamedCall(source, name, id);
  return true;
}

/** Reads up to the arguments; `undefined` where this is no header. */
function headerReader(row: NamedBlock): (input: TextInput) => Reading<Header | "cut" | undefined> {
  const { ends, beforeId, nameInLine, headerIsId } = row;
  const first = new Markers(beforeId === undefined ? ends : [...ends, beforeId]);
  const second = new Markers(ends);
  return function* (input) {
    const head = yield* readWord(input, first);
    if (head === undefined || head === "cut") return head;
    const { word, end } = head;
    if (end === beforeId) {
      const id = yield* readWord(input, second);
      return typeof id === "object" ? { name: word, id: id.word } : id;
    }
    if (word === nameInLine) {
      const name = yield* readWord(input, LINE);
      return typeof name === "object" ? { name: name.word, id: undefined } : name;
    }
    return headerIsId ? { name: nameOfId(word), id: word } : { name: word, id: undefined };
  };
}

const nameOfId = (id: string) => id.replace(/^functions\./, "").replace(/:\d+$/, "");

/** Reads a name or an id and what ends it; a brace or backtick stays. `cut`: the text ended in it. */
function* readWord(
  input: TextInput,
  ends: Markers,
): Reading<{ word: string; end: string } | "cut" | undefined> {
  let word = "";
  for (;;) {
    const end = yield* ends.here(input);
    if (end !== undefined) {
      if (end !== "{" && end !== "`") input.at += end.length;
      return { word: word.trim(), end };
    }
    const next = yield* peek(input);
    if (next === "") return "cut";
    const isSecond = /\S\s/.test(word) && /\S/.test(next);
    if (isSecond || !IN_HEADER.test(next) || word.length > MAX_HEADER) return undefined;
    word += input.take(input.at + 1);
  }
}

/** The beginning of a section of calls, with what else a model writes before the first of them. */
export function sectionBlock(marker: string, first: string): Block {
  const calls = new Markers([first]);
  return function* (input) {
    input.at += marker.length;
    for (let noise = 0; noise <= MAX_HEADER; noise++) {
      if ((yield* calls.here(input)) !== undefined) return true;
      if ((yield* peek(input)) === "") return noise === 0;
      input.at++;
    }
    return false;
  };
}
