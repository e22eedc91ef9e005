import { ahead, MAX_NAME, textBefore } from "../machine/lookahead.ts";
import { Markers, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import type { ReaderContext } from "../reader.ts";
import { pairOf } from "./named-tags.ts";
import { SchemaView } from "./schema-view.ts";
import type { Head, TagGrammar, TagMarks } from "./tagged.ts";
import { type Key, TextMembers } from "./tagged-value.ts";

type Tools = ReaderContext["tools"];

const KEY = pairOf("arg_key");
const VALUE = pairOf("arg_value");
const SEPARATOR = "<tool_sep>";
/** What ends a name; models also write a line end as the two characters that stand for it. */
const NAME_ENDS = new Markers(["<", "{", "\n", "\\n"]);
const NAME = /^[\p{L}\p{N}_.:-]+$/u;
const KEY_OPEN = new Markers([KEY.open]);
const KEY_ENDS = new Markers([KEY.close, VALUE.open]);
const KEY_CLOSE = new Markers([KEY.close]);
const WRITTEN_LINE_END = new Markers(["\\n"]);
const NAMELESS: Head = { name: "" };

/**
 * The grammar in which names stand between tags:
 * `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`.
 */
export function pairedTags(wrappers: readonly string[], call: string): TagGrammar {
  const marks: TagMarks = {
    wrappers: wrappers.map(pairOf),
    call: pairOf(call),
    sure: true,
    key: KEY.open,
    keyClose: VALUE.close,
  };
  const members = new TextMembers(marks, { nested: VALUE.open, frame: "none", readKey });
  const behindName = new Markers([KEY.open, SEPARATOR]);
  return {
    ...marks,
    head: (input, tools) => readHead(input, tools, behindName),
    member: (input, writer, schema) => members.read(input, writer, schema),
  };
}

/** Reads a parameter's name; its marks may be doubled, and all but the first may be missing. */
function* readKey(input: TextInput): Reading<Key | undefined> {
  yield* KEY_OPEN.skip(input);
  const name = yield* textBefore(input, KEY_ENDS, MAX_NAME);
  if (name === undefined) return undefined;
  for (let end: string | undefined = KEY.close; end === KEY.close; ) {
    yield* skipBlanks(input);
    end = yield* KEY_ENDS.skip(input);
  }
  return { name: name.trim(), kind: "schema" };
}

/** Reads a name that nothing but what follows it ends. One that nobody declared counts where a parameter follows. */
function* readHead(input: TextInput, tools: Tools, behindName: Markers): Reading<Head | undefined> {
  yield* skipBlanks(input);
  const written = yield* readName(input, tools);
  if (written === undefined) return undefined;
  const fused = tools.has(written) ? undefined : yield* readFused(input, written, tools);
  if (fused) return fused;
  input.at += written.length;
  yield* WRITTEN_LINE_END.skip(input);
  const mark = input.mark();
  yield* skipBlanks(input);
  const behind = yield* behindName.here(input);
  if (behind === SEPARATOR) {
    input.at += behind.length;
    input.release();
  } else input.back(mark);
  const name = written.trim();
  return tools.has(name) || (behind !== undefined && NAME.test(name)) ? { name } : NAMELESS;
}

/** What stands before the end of a name, not yet passed over. `undefined`: the reply ended in a name. */
function* readName(input: TextInput, tools: Tools): Reading<string | undefined> {
  const names = [...tools.keys()];
  for (;;) {
    const { marker, at } = NAME_ENDS.find(input);
    if (at - input.at > MAX_NAME) return "";
    const written = input.text.slice(input.at, at);
    const begun = names.some((name) => name.startsWith(written.trimEnd()));
    if (marker !== undefined) return written;
    if (!(begun || NAME.test(written))) return "";
    if (input.ended) return lastName(input, written, names);
    yield;
  }
}

/** The name that the reply ends in: a whole one, from which no other goes on, or the beginning of one. */
function lastName(input: TextInput, written: string, names: readonly string[]): string | undefined {
  const meant = names.filter((name) => name.startsWith(written.trimEnd()));
  if (meant.length === 1 && meant[0] === written.trimEnd()) return written;
  if (meant.length === 0 || written === "") return "";
  input.at = input.text.length;
  return undefined;
}

/** A declared name with the name of one of its parameters right behind it: the mark between them is missing. */
function* readFused(input: TextInput, written: string, tools: Tools): Reading<Head | undefined> {
  const text = written.trimEnd();
  const name = [...tools.keys()].find(
    (known) => text.startsWith(known) && new SchemaView(tools.get(known)).has(text.slice(known.length)),
  );
  if (name === undefined || !(yield* ahead(input, () => endsKey(input, written)))) return undefined;
  input.at += name.length;
  return { name, begun: true };
}

function* endsKey(input: TextInput, written: string): Reading<boolean> {
  input.at += written.length;
  return (yield* KEY_CLOSE.here(input)) !== undefined;
}
