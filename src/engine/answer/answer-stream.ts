import { withSpellings } from "../../core/json/spelling.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject } from "../../core/json/value.ts";
import { clientChunk, type Envelope, frame, type ReadChunk } from "../../core/protocol/visible.ts";
import type { ChatChunk, Choice } from "../../core/protocol/wire.ts";
import type { GatewayError } from "../../errors.ts";
import type { ClientSink } from "../ports/client.ts";
import {
  type Answer,
  type ClientCallPiece,
  type Ending,
  type FinishWire,
  finishChoice,
  type PendingApproval,
  type Progress,
} from "./answer.ts";
import { plainMembers, reasonOf, roleOnly } from "./finish.ts";

export interface StreamAnswerOptions {
  runId: string;
  sessionId: string;
  /** The name that the client asked for. */
  model: string;
  /** Choices that get a finish of their own: `n` of the request. */
  choices: number;
  events: boolean;
  /** Leave the `toolweir` member out, and with it all progress. */
  strict: boolean;
  includeUsage: boolean;
  now(): number;
  /** The first text, reasoning or call goes out. */
  onFirstToken(): void;
}

/** Pieces of up to this many bytes together leave in one write. */
const MAX_JOINED = 16 * 1024;
const DONE = "data: [DONE]\n\n";

/** The streamed answer: collects the frames of one upstream read and hands them over in one write. */
export class StreamAnswer implements Answer {
  readonly #sink: ClientSink;
  readonly #options: StreamAnswerOptions;
  readonly #member: { run_id: string; session_id: string };
  #envelope: Envelope | undefined;
  #pending: (Buffer | string)[] = [];
  readonly #roles = new Set<number>();
  readonly #callIndex = new Map<string, number>();
  readonly #finish = new Map<number, FinishWire>();
  #opening: { chunk: ReadChunk; frame: string } | undefined;
  shown = false;
  /** The model server has begun to answer this attempt well. */
  #begun = false;
  /** Looks of the keepalive since something was written. */
  #silent = 0;
  /** What is kept back, and whether the client would see text or a call in it. */
  #held: { pieces: (Buffer | string)[]; shows: boolean } | undefined;
  /** The client's buffer is full. */
  blocked = false;

  constructor(sink: ClientSink, options: StreamAnswerOptions) {
    this.#sink = sink;
    this.#options = options;
    this.#member = { run_id: options.runId, session_id: options.sessionId };
  }

  /** The client's envelope, settled by the first chunk that has an id. */
  envelope(chunk?: ChatChunk): Envelope {
    if (this.#envelope) return this.#envelope;
    const { id, created } = chunk ?? {};
    this.#envelope = {
      id: typeof id === "string" && id !== "" ? id : `chatcmpl-${this.#options.runId}`,
      created: typeof created === "number" && created > 0 ? created : Math.floor(this.#options.now() / 1000),
      model: this.#options.model,
    };
    return this.#envelope;
  }

  /** Nothing was said or held yet. */
  get fresh(): boolean {
    return this.#envelope === undefined && this.#roles.size === 0 && this.#held === undefined;
  }

  /** The name that the client asked for. */
  get model(): string {
    return this.#options.model;
  }

  /** What was written for the chunk that opened the stream, up to where `open` goes on; `undefined` for any other chunk. */
  openingOf(chunk: ReadChunk): string | undefined {
    return this.#opening?.chunk === chunk
      ? this.#opening.frame.slice(0, -this.#openingEnd().length)
      : undefined;
  }

  /** Opens the first choice as it was once opened for a chunk that differed in id and time only: see `openingOf`. */
  open(id: string, created: number, frame: string): void {
    this.#envelope = { id, created, model: this.#options.model };
    this.#roles.add(0);
    this.#write(frame + this.#openingEnd());
  }

  /** Returns the frame that was written, where the next chunk of the same shape would be written alike. */
  takeChunk(chunk: ReadChunk): string | undefined {
    const choices: Choice[] = [];
    for (const choice of chunk.choices) {
      if (choice.finish !== undefined)
        this.#finish.set(choice.index, {
          chunk: chunk.wire,
          choice: choice.visible ? plainMembers(choice.wire) : choice.wire,
        });
      if (choice.visible) choices.push(choice.visible);
      else if (!this.#roles.has(choice.index)) choices.push(roleOnly(choice.index));
    }
    if (choices.length === 0) return undefined;
    if (!this.shown && chunk.choices.some((choice) => choice.visible)) this.#show();
    const plain = choices.every((choice) => this.#roles.has(Number(choice.index)));
    const first = this.#roles.size === 0;
    const written = frame(this.#opened(clientChunk(this.envelope(chunk.wire), chunk.wire, choices), choices));
    if (first) this.#opening = { chunk, frame: written };
    this.#write(written);
    return plain ? written : undefined;
  }

  /** Whole frames that need no reading. */
  takeBytes(bytes: Buffer): void {
    if (!this.shown) this.#show();
    this.#write(bytes);
  }

  takeCall(choice: number, { call, text }: ClientCallPiece): void {
    if (!this.shown) this.#show();
    const key = `${choice} ${call.id}`;
    const known = this.#callIndex.get(key);
    const body = call.kind === "custom" ? { input: text } : { arguments: text };
    if (known !== undefined) {
      this.#chunk(choice, { tool_calls: [{ index: known, [call.kind]: body }] });
      return;
    }
    const index = [...this.#callIndex.keys()].filter((other) => other.startsWith(`${choice} `)).length;
    this.#callIndex.set(key, index);
    const head = {
      index,
      id: call.id,
      type: call.kind,
      [call.kind]: { name: call.name, ...body },
      ...call.extra,
    };
    this.#chunk(choice, { tool_calls: [head] });
  }

  progress(event: Progress): void {
    if (!this.#options.events || this.#options.strict) return;
    const toolweir = withSpellings({ ...this.#member, ...event } as JsonObject, event as JsonObject);
    this.#chunk(0, {}, { toolweir });
    this.flush();
  }

  say(text: string): void {
    if (!this.shown) this.#show();
    this.#chunk(0, { content: text });
  }

  announce(pending: readonly PendingApproval[]): void {
    if (this.#options.strict) return;
    this.#chunk(0, {}, { toolweir: { ...this.#member, pending_approvals: pending } });
    this.flush();
  }

  hold(): void {
    this.#held = { pieces: [], shows: false };
  }

  release(show: boolean): void {
    const held = this.#held;
    this.#held = undefined;
    if (!held || !show) return;
    if (held.shows && !this.shown) this.#show();
    for (const piece of held.pieces) this.#write(piece);
  }

  /** A model server has begun a stream: from here on the client may be shown that the answer lives. */
  begin(): void {
    this.#begun = true;
    this.#silent = 0;
  }

  restart(): void {
    this.#begun = false;
    this.#finish.clear();
    if (this.#held) this.hold();
  }

  /** Hands over what has gathered. After it, `blocked` says whether to wait for the client. */
  flush(): void {
    if (this.#pending.length === 0) return;
    this.#silent = 0;
    for (const piece of joined(this.#pending)) this.blocked = !this.#sink.write(piece);
    this.#pending = [];
  }

  /** Calls back once when the client has caught up or is gone. */
  onDrain(callback: () => void): void {
    this.#sink.onDrain(() => {
      this.blocked = false;
      callback();
    });
  }

  /**
   * To be called twice in every keepalive interval: writes one where the stream has been silent for that long. Until the model
   * server has answered nothing is written, for it would be the status of the answer.
   */
  keepalive(as: "comment" | "chunk"): void {
    if (!this.#begun && !this.#sink.started) return;
    if (this.blocked || ++this.#silent < 2) return;
    if (as === "chunk" && !this.#held) this.#chunk(0, {});
    else this.#pending.push(": keep-alive\n\n");
    this.flush();
  }

  /** The finish chunk of every choice, the usage where it was asked for, `[DONE]`. */
  end(ending: Ending): void {
    const { summary } = ending;
    for (let index = 0; index < this.#options.choices; index++) {
      const wire = this.#finish.get(index);
      const finish = index === 0 ? ending.finish : reasonOf(wire);
      const choices = [finishChoice(wire?.choice, index, finish)];
      const chunk = this.#opened(clientChunk(this.envelope(), wire?.chunk ?? {}, choices), choices);
      const told = index === 0 && !this.#options.strict ? { ...chunk, toolweir: summary } : chunk;
      // Arguments that await approval keep their digits.
      this.#write(
        summary.pending_approvals ? `data: ${stringifyJson(told as unknown as JsonObject)}\n\n` : frame(told),
      );
    }
    if (this.#options.includeUsage && ending.usage) {
      this.#write(frame({ ...clientChunk(this.envelope(), {}, []), usage: ending.usage }));
    }
    this.#write(DONE);
    this.flush();
  }

  /** An error after the first byte: one chunk with a top-level `error`, then `[DONE]`. */
  fail(error: GatewayError): void {
    const chunk = { ...clientChunk(this.envelope(), {}, []), ...error.toBody() };
    this.#write(frame(this.#options.strict ? chunk : { ...chunk, toolweir: this.#member }));
    this.#write(DONE);
    this.flush();
  }

  #chunk(index: number, delta: Record<string, unknown>, members: Record<string, unknown> = {}): void {
    const choices = [{ index, delta, finish_reason: null }];
    const chunk = this.#opened(clientChunk(this.envelope(), {}, choices), choices);
    this.#write(`data: ${stringifyJson({ ...chunk, ...members } as JsonObject)}\n\n`);
  }

  /** How the frame ends that opens the stream. */
  #openingEnd(): string {
    return this.#options.strict ? "}\n\n" : `,"toolweir":${JSON.stringify(this.#member)}}\n\n`;
  }

  /** Gives a choice's first chunk its role, and the first of all the `toolweir` member. */
  #opened(chunk: ChatChunk, choices: Choice[]): ChatChunk {
    const first = this.#roles.size === 0;
    for (const choice of choices) {
      const index = Number(choice.index ?? 0);
      if (this.#roles.has(index)) continue;
      this.#roles.add(index);
      choice.delta = { role: "assistant", ...choice.delta };
    }
    return first && !this.#options.strict ? { ...chunk, toolweir: this.#member } : chunk;
  }

  #show(): void {
    if (this.#held) {
      this.#held.shows = true;
      return;
    }
    this.shown = true;
    this.#options.onFirstToken();
  }

  #write(piece: Buffer | string): void {
    if (this.#held) {
      this.#held.pieces.push(piece);
      return;
    }
    const last = this.#pending.length - 1;
    const before = this.#pending[last];
    if (typeof before === "string" && typeof piece === "string") this.#pending[last] = before + piece;
    else this.#pending.push(piece);
  }
}

/** Copying a little costs less than a further write. */
function joined(pieces: readonly (Buffer | string)[]): readonly (Buffer | string)[] {
  if (pieces.length === 1 || pieces.reduce((sum, { length }) => sum + length, 0) > MAX_JOINED) return pieces;
  return [Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)))];
}
