import type { Block } from "../machine/grammar.ts";
import { flow } from "../machine/lookahead.ts";
import type { Output } from "../machine/output.ts";
import { Markers, type Reading, skipBlanks, type TextInput } from "../machine/text-input.ts";
import { CallWriter } from "./call-writer.ts";
import { passValue } from "./json-value.ts";

const START = "<|start|>";
const CHANNEL = "<|channel|>";
const MESSAGE = "<|message|>";
/** What ends a message. */
export const HARMONY_ENDS = ["<|end|>", "<|call|>", "<|return|>"] as const;
/** What opens one. */
export const HARMONY_MARKERS = [START, CHANNEL, MESSAGE] as const;

/** No header has one: arguments have begun without the token that says so. */
const BRACE = "{";
const IN_HEADER = new Markers([START, CHANNEL, MESSAGE, BRACE, "<|constrain|>", ...HARMONY_ENDS]);
const RECIPIENT_FIRST = new Markers(["to="]);
const ENDS = new Markers(HARMONY_ENDS);
const BODY_ENDS = new Markers([...HARMONY_ENDS, START]);
/** A longer header is none: its message has begun without the token that says so. */
const MAX_HEADER = 256;

interface Header {
  /** Who speaks; `""` where it does not say. */
  role: string;
  channel: string;
  recipient: string | undefined;
  /** Text that can only be the message, whose token is missing. */
  body: string;
  /** No message follows. */
  over: boolean;
}

/** Reads a message from its header on. What is meant for the reader is left to be read as text. */
export const harmonyMessage: Block = function* read(input, out, { tools }) {
  const header = yield* readHeader(input);
  if (header === undefined) return true;
  out.markup();
  yield* passMessage(input, out, header, destination(header, tools.size > 0));
  yield* ENDS.skip(input);
  return true;
};

/** Where a message goes. The recipient decides, not the channel; what the model tells a role other than the user is for nobody. */
type Destination = { kind: "content" | "reasoning" | "nobody" } | { kind: "call"; name: string };

function destination({ role, channel, recipient }: Header, hasTools: boolean): Destination {
  const name = recipient === "all" ? undefined : recipient?.replace(/^functions\./, "");
  if (channel === "analysis" && (name === undefined || name === "assistant")) return { kind: "reasoning" };
  if (role !== "assistant" || name === "assistant") return { kind: "nobody" };
  return name === undefined || !hasTools ? { kind: "content" } : { kind: "call", name };
}

/** Reads a message's text up to what ends it; content is read as text. */
function* passMessage(input: TextInput, out: Output, header: Header, to: Destination): Reading<void> {
  const take = to.kind === "reasoning" ? out.newThought() : () => {};
  if (to.kind === "content") out.content(header.body);
  else take(header.body);
  if (header.over || to.kind === "content") return;
  if (to.kind === "call") yield* passCall(input, new CallWriter(out, to.name, true));
  else yield* flow(input, BODY_ENDS, take);
}

/** A reply begins behind the token and the role of its first message, so its header may begin with the recipient. */
export const harmonyOpening: Block = function* read(input, out, context) {
  if ((yield* skipBlanks(input)) === "" || !(yield* RECIPIENT_FIRST.here(input))) return false;
  const pieces: string[] = [];
  const mark = input.mark();
  const marker = yield* within(input, pieces);
  const begins =
    pieces.join("").trim().split(/\s+/).length <= 2 && (marker === CHANNEL || marker === MESSAGE);
  input.back(mark);
  return begins && (yield* harmonyMessage(input, out, context));
};

/** Reads a header; `undefined`: the reply ended in it. */
function* readHeader(input: TextInput): Reading<Header | undefined> {
  const header: Header = { role: "assistant", channel: "", recipient: undefined, body: "", over: false };
  let part: string = "";
  for (;;) {
    const pieces: string[] = [];
    const marker = yield* within(input, pieces);
    readPart(header, part, pieces.join(""));
    if (marker === undefined) {
      // Either the reply has ended, or this has become too long for a header.
      if (input.ended && input.drained && header.body === "") return undefined;
      return header;
    }
    if (marker === BRACE) return header;
    if (marker === MESSAGE) {
      input.at += marker.length;
      return { ...header, body: "" };
    }
    if (ENDS.begins(marker) || (marker === START && part !== "")) return { ...header, over: true };
    input.at += marker.length;
    part = marker;
  }
}

/** Collects text up to a token; `undefined` where none comes for too long. */
function* within(input: TextInput, pieces: string[]): Reading<string | undefined> {
  for (let left = MAX_HEADER; ; ) {
    const { marker, at } = IN_HEADER.find(input);
    const end = Math.min(at, input.at + left);
    left -= end - input.at;
    pieces.push(input.take(end));
    if (end < at || (input.ended && marker === undefined)) return undefined;
    if (marker !== undefined) return marker;
    yield;
  }
}

/** Takes what a header says behind one of its tokens. */
function readPart(header: Header, token: string, text: string): void {
  const recipient = /(?:^|\s)to=([^\s<]+)/.exec(text)?.[1];
  if (recipient !== undefined) header.recipient = recipient;
  const [word = "", ...others] = text.trim().split(/\s+/);
  if (token === START && word !== "") header.role = word;
  if (token !== CHANNEL) return;
  header.channel = word;
  header.body =
    recipient === undefined && others.length > 0 ? text.trimStart().slice(word.length).trimStart() : "";
}

/** Reads a call's arguments: JSON, or whatever stands there. */
function* passCall(input: TextInput, writer: CallWriter): Reading<void> {
  const next = yield* skipBlanks(input);
  if (next === "{" && (yield* passValue(input, BODY_ENDS, (text, put) => writer.raw(text, put))) === "cut")
    return;
  let blanks = "";
  yield* flow(input, BODY_ENDS, (text) => {
    const whole = blanks + text;
    const kept = whole.trimEnd();
    blanks = whole.slice(kept.length);
    if (kept !== "") writer.raw(kept);
  });
  writer.end();
}
