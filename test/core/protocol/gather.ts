import { CallAccumulator, type ToolCall } from "../../../src/core/protocol/accumulator.ts";
import { nativeAdapter } from "../../../src/core/protocol/adapter.ts";
import type { Delta } from "../../../src/core/protocol/wire.ts";
import { type CallPiece, callPiece } from "../../support/chunks.ts";

/** An accumulator whose made-up ids are `new1`, `new2` …; a provider's id is kept while it is free. */
export function newAccumulator(maxLength = 100_000): CallAccumulator {
  const taken = new Set<string>();
  let made = 0;
  return new CallAccumulator({
    maxLength,
    nextId(wireId) {
      const id = wireId !== undefined && !taken.has(wireId) ? wireId : `new${++made}`;
      taken.add(id);
      return id;
    },
  });
}

/** The calls that come of deltas as the wire has them. */
export function gatherDeltas(deltas: readonly Delta[], accumulator = newAccumulator()): ToolCall[] {
  for (const delta of deltas) {
    for (const fragment of nativeAdapter.push(delta, false).fragments) accumulator.push(fragment);
  }
  return accumulator.finish();
}

/** The same for `tool_calls` alone: one array a delta. */
export function gather(...deltas: readonly (CallPiece | readonly CallPiece[])[]): ToolCall[] {
  return gatherDeltas(deltas.map((pieces) => ({ tool_calls: [pieces].flat().map(callPiece) })));
}

/** Ids, names and arguments only. */
export const brief = (calls: readonly ToolCall[]) => calls.map(({ id, name, raw }) => [id, name, raw]);
