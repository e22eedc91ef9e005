import type { Choice, FinishReason } from "../../core/protocol/wire.ts";
import type { FinishWire } from "./answer.ts";

/** What is left for the finish chunk when the text beside the finish reason has gone out: SDKs would add up lists twice. */
export function plainMembers(wire: Choice): Choice {
  return Object.fromEntries(Object.entries(wire).filter(([, value]) => typeof value !== "object"));
}

/** A choice that says nothing but whose turn it is. */
export const roleOnly = (index: number): Choice => ({ index, delta: { content: "" }, finish_reason: null });

/** Choices beyond the first only exist where the run is passed through: their reason is the upstream's. */
export function reasonOf(wire: FinishWire | undefined): FinishReason {
  const reason = wire?.choice.finish_reason;
  return reason === "length" || reason === "content_filter" || reason === "tool_calls" ? reason : "stop";
}
