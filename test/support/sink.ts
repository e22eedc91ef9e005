import type { ChatChunk, Choice, Delta, Usage } from "../../src/core/protocol/wire.ts";
import type { ClientSink } from "../../src/engine/ports/client.ts";

/** A chunk as a client reads it. */
export interface ClientChunk extends ChatChunk {
  choices: (Choice & { index: number; delta: Delta & { tool_calls?: ClientCall[] } })[];
  usage?: Usage;
  toolweir?: Record<string, unknown>;
  error?: { message: string; code: string };
}

/** A piece of a tool call as a client reads it. */
export interface ClientCall {
  index: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: string };
  [member: string]: unknown;
}

/** A client's end of a stream that keeps what was written. */
export interface FakeSink extends ClientSink {
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** One element a write. */
  readonly writes: string[];
  /** Everything that was written. */
  readonly text: string;
  /** The client leaves. */
  leave(reason?: Error): void;
  /** From now on the client takes nothing. */
  stall(): void;
  /** The client takes everything again. */
  drain(): void;
}

/** A sink whose client takes everything at once, until it is told otherwise. */
export function fakeSink(): FakeSink {
  const gone = new AbortController();
  const bytes: Buffer[] = [];
  let stalled = false;
  let waiting: (() => void)[] = [];
  const sink = {
    writes: [] as string[],
    started: false,
    signal: gone.signal,
    get text() {
      return Buffer.concat(bytes).toString();
    },
    start() {
      sink.started = true;
    },
    write(frames: Buffer | string) {
      sink.started = true;
      sink.writes.push(frames.toString());
      bytes.push(Buffer.from(frames));
      return !stalled;
    },
    onDrain(callback: () => void) {
      if (stalled) waiting.push(callback);
      else callback();
    },
    leave: (reason = new Error("gone")) => gone.abort(reason),
    stall() {
      stalled = true;
    },
    drain() {
      stalled = false;
      const callbacks = waiting;
      waiting = [];
      for (const callback of callbacks) callback();
    },
  };
  return sink;
}

/** The data of the events in a stream, without comments. */
export function eventsOf(text: string): string[] {
  return text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice("data: ".length));
}

/** The chunks in a stream, without `[DONE]`. */
export function chunksOf(text: string): ClientChunk[] {
  return eventsOf(text)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as ClientChunk);
}

/** What a client that adds up the deltas of one choice has in the end. */
export interface ReadStream {
  roles: string[];
  content: string;
  reasoning: string;
  refusal: string;
  calls: { id: string; name: string; arguments: string }[];
  finishes: string[];
}

/** Adds up the deltas of one choice as an SDK does. */
export function readStream(text: string, index = 0): ReadStream {
  const read: ReadStream = { roles: [], content: "", reasoning: "", refusal: "", calls: [], finishes: [] };
  for (const { choices } of chunksOf(text)) {
    for (const choice of choices.filter((one) => one.index === index)) {
      addDelta(read, choice.delta);
      if (typeof choice.finish_reason === "string") read.finishes.push(choice.finish_reason);
    }
  }
  return read;
}

function addDelta(read: ReadStream, delta: Delta & { tool_calls?: ClientCall[] }): void {
  if (delta.role !== undefined) read.roles.push(String(delta.role));
  read.content += delta.content ?? "";
  read.reasoning += delta["reasoning_content"] ?? "";
  read.refusal += delta["refusal"] ?? "";
  for (const { index, id, function: body } of delta.tool_calls ?? []) {
    read.calls[index] ??= { id: "", name: "", arguments: "" };
    const call = read.calls[index];
    call.id += id ?? "";
    call.name += body?.name ?? "";
    call.arguments += body?.arguments ?? "";
  }
}
