import { MAX_NAME, textBefore } from "../machine/lookahead.ts";
import { Markers, type Reading, type TextInput } from "../machine/text-input.ts";
import type { ReaderContext } from "../reader.ts";
import type { Head, Pair, TagGrammar, TagMarks } from "./tagged.ts";
import { type Key, TextMembers } from "./tagged-value.ts";
import type { Frame } from "./value-writer.ts";

/** A format whose tags carry names: `<function=NAME>` or `<invoke name="NAME">`. */
export interface NamedTags {
  /** What stands around calls: the name of a tag, or two strings. */
  wrappers: readonly (string | Pair)[];
  /** The name of a tag, or how it begins, up to the name it carries, and how it closes. */
  call: string | Pair;
  parameter: string | Pair;
  /** What stands between a tag and the name it carries. */
  assign: "=" | " name=";
  frame?: Frame;
  eos?: string | undefined;
}

const CLOSERS = new Markers([">", "<|sep|>"]);
const TAG_ENDS = new Markers([">", "\n", "<"]);

/** The grammar of tags that carry names. */
export function namedTags({ wrappers, call, parameter, assign, frame, eos }: NamedTags): TagGrammar {
  const { open: key, close: keyClose } = carrier(parameter, assign);
  const marks: TagMarks = {
    wrappers: wrappers.map((tag) => (typeof tag === "string" ? pairOf(tag) : tag)),
    call: carrier(call, assign),
    sure: false,
    key,
    keyClose,
    eos,
  };
  const members = new TextMembers(marks, { nested: key, frame: frame ?? "none", readKey });
  return {
    ...marks,
    head: readNamedHead,
    member: (input, writer, schema) => members.read(input, writer, schema),
  };
}

const carrier = (tag: string | Pair, assign: string): Pair =>
  typeof tag === "string" ? { open: `<${tag}${assign}`, close: `</${tag}>` } : tag;

/** The opening and the closing tag of a name. */
export const pairOf = (tag: string): Pair => ({ open: `<${tag}>`, close: `</${tag}>` });

/** The head of a call whose tag carries its name. */
export function* readNamedHead(input: TextInput, tools: ReaderContext["tools"]): Reading<Head | undefined> {
  const tag = yield* readTag(input);
  if (!tag) return undefined;
  const { name, attributes, closed } = tag;
  // Models forget the `>`; what is left must be a name that somebody declared then.
  const counts = tools.has(name) || (closed && !/\s/.test(name));
  return { name: counts ? name : "", empty: attributes.trim().endsWith("/") };
}

function* readKey(input: TextInput): Reading<Key | undefined> {
  const tag = yield* readTag(input);
  if (!tag) return undefined;
  const said = /\b(string|type)\s*=\s*["']?(\w+)/.exec(tag.attributes);
  if (!said) return { name: tag.name, kind: "schema" };
  return { name: tag.name, kind: said[2] === "true" || said[2] === "string" ? "string" : "json" };
}

/** Reads a tag from behind its `=` on. `undefined`: the reply ended in it. */
function* readTag(
  input: TextInput,
): Reading<{ name: string; attributes: string; closed: boolean } | undefined> {
  const written = yield* textBefore(input, TAG_ENDS, MAX_NAME);
  if (written === undefined) {
    if (!input.ended) return { name: "", attributes: "", closed: false };
    input.at = input.text.length;
    return undefined;
  }
  const closed = (yield* CLOSERS.skip(input)) !== undefined;
  const quoted = /^\s*(["'])(.*?)\1([\s\S]*)$/.exec(written);
  if (quoted) return { name: quoted[2] ?? "", attributes: quoted[3] ?? "", closed };
  const bare = written.trim();
  return { name: bare.replace(/\/$/, ""), attributes: bare, closed };
}
