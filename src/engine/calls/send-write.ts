import type { JsonObject } from "../../core/json/value.ts";
import { GatewayError } from "../../errors.ts";
import type { CallFacts, Performed } from "../approvals/writes.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { refusalMessage } from "../results/results.ts";
import type { Run } from "../run-state.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import type { PlannedCall } from "./planned-call.ts";
import { idempotencyKey } from "./policy.ts";

/** What the ledger has to know of a call in a run. */
export function callFacts(
  run: Run,
  { call }: PlannedCall,
  tool: RegisteredTool,
  args: JsonObject,
): CallFacts {
  return {
    tool: tool.definition,
    args,
    caller: run.caller.name,
    sessionId: run.sessionId,
    isSessionNamed: run.isSessionNamed,
    runId: run.id,
    callId: call.id,
    user: run.user,
    idempotencyKey: idempotencyKey(run.id, call, tool),
  };
}

/**
 * Sends a call of a tool that may change something, behind its intent in the ledger. Where that cannot be stored nothing is sent, and the
 * model is told so.
 */
export async function sendWrite(
  run: Run,
  entry: PlannedCall,
  tool: RegisteredTool,
  args: JsonObject,
  send: () => Promise<Performed>,
): Promise<Performed> {
  const { call, record } = entry;
  const { writes, telemetry } = run.deps;
  let intent: Awaited<ReturnType<typeof writes.intend>>;
  let performed: Awaited<ReturnType<typeof writes.perform>>;
  try {
    await run.watch?.writing();
    intent = await writes.intend(callFacts(run, entry, tool, args));
    run.wrote = true;
    record.write = { id: intent.id, state: "executing" };
    performed = await writes.perform(intent, tool.definition, send);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "store_unavailable") throw error;
    const message = refusalMessage(call, "store_unavailable", CALL_TEXTS[run.locale].notStored);
    return { outcome: { errorKind: "transient", attempts: 0, durationMs: 0 }, message };
  }
  const { state, ...done } = performed;
  record.write = { id: intent.id, state };
  telemetry.ledger({
    tool: intent.tool,
    id: intent.id,
    runId: run.id,
    sessionId: run.sessionId,
    step: state,
  });
  run.loops.forget();
  return done;
}
