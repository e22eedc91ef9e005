import { hash } from "node:crypto";
import { type ToolMessage, withNote, withoutNote } from "../results/results.ts";

/** What one call of a round came to, as far as it counts here. */
export interface WatchedCall {
  /** Name and canonical arguments. */
  key: string;
  message: ToolMessage;
  /** It was judged and not run. */
  isRefused: boolean;
}

/** A call made for the third time with the same arguments is a loop. */
const LOOP_AT = 3;
/** So is one round that comes for the third time. With several there is more that may still change what comes of them. */
const timesOf = (length: number): number => (length === 1 ? LOOP_AT : LOOP_AT + 1);
/** Rounds of the longest cycle that is looked for. */
const MAX_CYCLE = 8;

/**
 * What a run knows from its own calls, and whether it goes in circles.
 *
 * 1. A call that succeeded is answered from what is known when it is made again in a later round. The third time is a loop.
 * 2. So are rounds that repeat themselves: the same calls with the same results, one round three times in a row, or a cycle of two to
 *    eight rounds four times. That also finds calls that fail, and those around a write, which are made again.
 * 3. A round with a call that was refused is no part of a cycle: what is told about such calls is counted elsewhere.
 */
export class LoopWatch {
  readonly #known = new Map<string, { message: ToolMessage; times: number }>();
  readonly #rounds: (string | undefined)[] = [];
  #isLoop = false;
  #hasRepeated = false;

  /** The run goes in circles: its next round is the last. */
  get isLoop(): boolean {
    return this.#isLoop;
  }

  /** Some call was made again, or some round has come again. */
  get hasRepeated(): boolean {
    return this.#hasRepeated;
  }

  /** Whether a call would be answered from what is known. */
  has(key: string): boolean {
    return this.#known.has(key);
  }

  remember(key: string, message: ToolMessage): void {
    if (message.ok) this.#known.set(key, { message, times: 1 });
  }

  /** Something may have changed what the results of before say: such calls run again. */
  forget(): void {
    this.#known.clear();
  }

  /** What the same call brought in an earlier round. Asking counts. */
  known(key: string): ToolMessage | undefined {
    const known = this.#known.get(key);
    if (!known) return undefined;
    known.times++;
    this.#hasRepeated = true;
    if (known.times >= LOOP_AT) this.#isLoop = true;
    return known.message;
  }

  /** Takes in all calls of a round, in the model's order. `true` if with them a cycle of rounds has come again. */
  roundEnded(calls: readonly WatchedCall[]): boolean {
    const isWhole = calls.length > 0 && calls.every(({ isRefused }) => !isRefused);
    const round = isWhole ? digest(calls) : undefined;
    this.#rounds.push(round);
    if (this.#endsInCycle(() => 2)) this.#hasRepeated = true;
    const isCycle = this.#endsInCycle(timesOf);
    if (isCycle) this.#isLoop = true;
    return isCycle;
  }

  #endsInCycle(timesFor: (length: number) => number): boolean {
    for (let length = 1; length <= MAX_CYCLE; length++) {
      const rounds = timesFor(length) * length;
      if (rounds > this.#rounds.length) break;
      if (isPeriodic(this.#rounds.slice(-rounds), length)) return true;
    }
    return false;
  }
}

function isPeriodic(rounds: readonly (string | undefined)[], length: number): boolean {
  return rounds.every((round, at) => round !== undefined && round === rounds[at % length]);
}

/** Equal for rounds of the same calls with the same results; ids and notes do not count. */
function digest(calls: readonly WatchedCall[]): string {
  const texts = calls.map(({ key, message }) => [key, withoutNames(message)]);
  return hash("sha256", JSON.stringify(texts));
}

function withoutNames({ content }: ToolMessage): string {
  return withoutNote(content.slice(content.indexOf(',"success":')));
}

/** An earlier result under another call's id, with a note for the model. */
export function repeated(known: ToolMessage, callId: string, note: string): ToolMessage {
  const renamed = known.content.replace(JSON.stringify(known.tool_call_id), () => JSON.stringify(callId));
  return { ...known, tool_call_id: callId, content: withNote(renamed, note) };
}
