import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { mayStore, offerReading } from "../results/offer-results.ts";
import { type ToolMessage, toToolMessage } from "../results/results.ts";
import { REFERENCE_PREFIX } from "../results/stored-results.ts";
import type { Run } from "../run-state.ts";
import type { ToolOutcomeResult } from "./attempt.ts";

/**
 * What the model is told of a call that ran. A result that is too long is stored where its tool wants that, and `read_result` offered; where
 * it cannot be stored it is shortened. `definition` is the tool's, with the limits that held for this call.
 */
export async function tellResult(
  run: Run,
  call: ToolCall,
  outcome: ToolOutcomeResult,
  { select, definition: { result } }: RegisteredTool,
  definition: ToolDefinition,
): Promise<ToolMessage> {
  const telling = { locale: run.locale, select };
  if (result.overflow === "externalize" && mayStore(run)) {
    const reference = () => run.deps.newId(REFERENCE_PREFIX);
    const { stored, ...message } = toToolMessage(call, outcome, definition, { ...telling, reference });
    if (!stored) return message;
    if (await run.deps.results.keep(run.resultOwner, stored)) {
      offerReading(run);
      return message;
    }
  }
  return toToolMessage(call, outcome, definition, telling);
}
