import { isObject, type ProtocolAdapter, plainContent, type ToolFragment } from "./adapter.ts";
import type { ChatChunk, Choice, Delta, FinishReason, Usage } from "./wire.ts";

/** What the client's chunks have in common: constant over all rounds of a run. */
export interface Envelope {
  id: string;
  created: number;
  model: string;
}

/** One choice of a chunk, taken apart. */
export interface ReadChoice {
  index: number;
  /** What the client may see, without role, calls and finish; `undefined` when nothing is left. */
  visible: Choice | undefined;
  /** The delta as it came, without its calls. */
  said: Delta;
  fragments: readonly ToolFragment[];
  /** See `ReadDelta`. */
  changed: boolean;
  withdraws: boolean;
  finish: string | undefined;
  /** The choice as it came, for members that ride on the finish chunk. */
  wire: Choice;
}

/** A chunk, taken apart. */
export interface ReadChunk {
  choices: readonly ReadChoice[];
  usage: Usage | undefined;
  /** The text of an error that came inside the stream. */
  error: string | undefined;
  /** Members beside the known ones, which ride on the client's chunk. */
  wire: ChatChunk;
}

/** Members of a choice that say nothing without a delta. */
const SILENT = new Set([
  "index",
  "delta",
  "message",
  "finish_reason",
  "native_finish_reason",
  "stop_reason",
  "token_ids",
]);

/**
 * Takes a chunk (or a whole completion, whose `message` counts as the delta) apart. `adapterOf` gives each choice its adapter.
 * Missing and `null` members are empty, never an error.
 */
export function readChunk(chunk: ChatChunk, adapterOf: (index: number) => ProtocolAdapter): ReadChunk {
  const list = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
  return {
    choices: list.map((choice, place) => readChoice(choice as Choice, place, adapterOf)),
    usage: isObject(chunk.usage) ? chunk.usage : undefined,
    error: chunk.error ? errorText(chunk.error) : undefined,
    wire: chunk,
  };
}

function readChoice(wire: Choice, place: number, adapterOf: (index: number) => ProtocolAdapter): ReadChoice {
  const index = Number.isSafeInteger(wire.index) ? (wire.index as number) : place;
  const delta = (isObject(wire.delta) ? wire.delta : isObject(wire.message) ? wire.message : {}) as Delta;
  const finish = finishText(wire.finish_reason);
  const read = adapterOf(index).push(delta, finish !== undefined);
  return {
    index,
    said: read.visible,
    visible: visibleChoice(wire, index, read.visible),
    fragments: read.fragments,
    changed: read.changed === true,
    withdraws: read.withdraws === true,
    finish,
    wire,
  };
}

function visibleChoice(wire: Choice, index: number, delta: Delta): Choice | undefined {
  const { role: _, ...rest } = plainContent(delta);
  // Beside a finish reason, members of the choice ride on the finish chunk.
  const says =
    Object.values(rest).some(hasContent) ||
    (finishText(wire.finish_reason) === undefined &&
      Object.entries(wire).some(([member, value]) => !SILENT.has(member) && hasContent(value)));
  if (!says) return undefined;
  const { message: __, ...others } = wire;
  return { ...others, index, delta: rest, finish_reason: null };
}

function hasContent(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** The finish reason of a chunk; the word "null" is none. */
function finishText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value !== "null" ? value : undefined;
}

/** What a provider's finish reasons come to: a truncating one always wins, whatever came before or after. */
export function finishReason(seen: readonly string[]): FinishReason {
  if (seen.some((reason) => reason === "length" || reason === "max_tokens")) return "length";
  if (seen.includes("content_filter")) return "content_filter";
  return seen.includes("tool_calls") || seen.includes("function_call") ? "tool_calls" : "stop";
}

/** A short text of an `error` member of any type, which may nest as deep as it likes. */
export function errorText(error: unknown): string {
  let told = error;
  while (isObject(told)) {
    const inner: unknown = told["message"] ?? told["error"] ?? told["detail"] ?? undefined;
    if (inner === undefined) break;
    told = inner;
  }
  return (typeof told === "object" ? JSON.stringify(told) : String(told)).slice(0, 500);
}

/** The chunk for the client: the upstream's own members, under the run's constant envelope. */
export function clientChunk(envelope: Envelope, wire: ChatChunk, choices: readonly Choice[]): ChatChunk {
  // Assigning over a copy keeps the order of the members, so that an untouched chunk is spelled as it came.
  const chunk: ChatChunk = {
    ...wire,
    id: envelope.id,
    object: "chat.completion.chunk",
    created: envelope.created,
    model: envelope.model,
    choices,
  };
  if (chunk.usage) delete chunk.usage;
  delete chunk.error;
  return chunk;
}

/** One SSE frame. */
export function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The sum of the rounds' usages: numbers are added member by member, whatever else there is comes from the later one. */
export function addUsage(sum: Usage | undefined, usage: Usage): Usage {
  if (!sum) return usage;
  const total: Usage = { ...sum };
  for (const [member, value] of Object.entries(usage)) {
    const before = total[member];
    if (typeof value === "number" && typeof before === "number") total[member] = before + value;
    else if (isObject(value) && isObject(before)) total[member] = addUsage(before, value);
    else if (value !== null || before === undefined) total[member] = value;
  }
  return total;
}
