import type { ToolCall } from "../core/protocol/accumulator.ts";
import { isoTime } from "./iso-time.ts";
import type { HopelessNote } from "./reply/hopeless-calls.ts";
import type { RunOptions } from "./run-options.ts";
import type { CallRecord, RoundRecord, RunRecord } from "./run-record.ts";

/** Characters of a call's argument text, and of a round's thought, that the record keeps. */
const RAW_KEPT = 64 * 1024;

/** The record of a round that begins. */
export function newRound(round: number): RoundRecord {
  return {
    round,
    upstream: "",
    protocol: "native",
    finish_reason: "",
    duration_ms: 0,
    usage: null,
    calls: [],
  };
}

/** The record of a call that no gate has seen yet. */
export function newCall(
  call: ToolCall,
  owner: CallRecord["owner"],
  hopeless: HopelessNote | undefined,
): CallRecord {
  return {
    call_id: call.id,
    name: call.name,
    owner,
    ...keptText(call.raw),
    reading: call.reading,
    ...(hopeless && { hopeless }),
    gates: [],
    outcome: owner === "client" ? "client" : "rejected",
    attempts: 0,
    duration_ms: 0,
  };
}

function keptText(raw: string): Pick<CallRecord, "raw" | "raw_cut"> {
  return { raw: keptStart(raw), ...(raw.length > RAW_KEPT && { raw_cut: true }) };
}

/** The first 65,536 characters. A copy where the text is cut: a slice would hold on to the whole. */
export function keptStart(text: string): string {
  if (text.length <= RAW_KEPT) return text;
  return Buffer.from(text.slice(0, RAW_KEPT), "utf16le").toString("utf16le");
}

/** The record of a run that begins; `startedAt` in Unix milliseconds. */
export function newRecord(options: RunOptions, startedAt: number): RunRecord {
  return {
    run_id: options.id,
    session_id: options.sessionId,
    model: options.request.model,
    stream: options.request.stream === true,
    tools_offered: [...options.offer.gateway.keys()],
    started_at: isoTime(startedAt),
    ended_at: null,
    stop_reason: null,
    error: null,
    rounds: [],
  };
}
