import type { RepairName } from "../../json/repair-names.ts";

/** What a reader found in a piece of text, in the model's order. */
export type TextEvent =
  | { kind: "content"; text: string }
  | { kind: "reasoning"; text: string }
  /** A call's name is known; its number is the place among the reply's calls, from 0. `id` only where the model gave one. */
  | { kind: "call"; call: number; name: string; id: string | undefined }
  /**
   * More argument text (JSON, or whatever the model wrote where it cannot be read) of that call. `repairs`: where the format demands
   * JSON, what had to be put right for the text to be so.
   */
  | { kind: "arguments"; call: number; text: string; repairs?: readonly RepairName[] | undefined }
  /** The call is whole. A call that never gets this was cut off. */
  | { kind: "call_end"; call: number };

/** What stands before a place in its line: nothing, blanks only, or text. */
export type LineState = "start" | "indent" | "text";

/** Takes events in order. */
export type Emit = (event: TextEvent) => void;

/**
 * Reads one reply's text.
 *
 * 1. It takes the text in any cut, also between surrogates; joined, the events are the same.
 * 2. Text in which no marker begins is given out in the call that brought it.
 * 3. What follows a marker is looked at: where it is no call, the text is given back.
 */
export interface TextReader {
  /**
   * Nothing is held: as what a text in which none of `TextFormat.markers` begins would come out, unchanged. `undefined` where the
   * reader must see every text.
   */
  readonly idle: "content" | "reasoning" | undefined;
  push(text: string, emit: Emit): void;
  /** A text went past an idle reader, because no marker begins in it; says what it leaves its line with. */
  passed(line: LineState): void;
  /** The reply has ended: what was held is given out as call, or back as text. */
  end(emit: Emit): void;
}

/** The JSON Schema of a tool's parameters, as it was declared. */
export type ParameterSchema = Readonly<Record<string, unknown>>;

export interface ReaderContext {
  /** The declared tools, the gateway's and the client's. Empty: nothing is extracted. */
  tools: ReadonlyMap<string, ParameterSchema | undefined>;
  /** The template has opened the think block already. */
  reasoningPrefilled: boolean;
}

/** One way of writing calls into text. */
export interface TextFormat {
  /** Names accepted as `models[].protocol`, the first is the canonical one. */
  names: readonly string[];
  /** Strings that the reader must see, and with them every text in which the first two characters of one may stand. */
  markers: readonly string[];
  /** What ends a think block. */
  closesReasoning: string;
  reader(context: ReaderContext): TextReader;
}
