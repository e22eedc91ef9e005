import type { Objection } from "../gates/context.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { Run } from "../run-state.ts";
import { note, type PlannedCall, type Refusal, refuse } from "./planned-call.ts";

/** Counts a call of the tool that is about to run. Gives why it must not, as the last gate says it, if it must not. */
export async function overLimit(
  run: Run,
  { definition, local }: RegisteredTool,
): Promise<Refusal | undefined> {
  const { toolLimits } = run.deps;
  if (local || !toolLimits.concerns(definition, run.caller.name)) return undefined;
  const objection: Objection | undefined = await toolLimits.take(definition, run.rated, run.locale);
  return objection && { gate: "context", pass: false, ...objection };
}

/** Counts a call that is about to run. One that must not has its refusal afterwards, in place of what its last gate said. */
export async function refuseOverLimit(run: Run, entry: PlannedCall, tool: RegisteredTool): Promise<boolean> {
  const refusal = await overLimit(run, tool);
  if (!refusal) return false;
  const { record, call } = entry;
  record.gates = [...record.gates.filter(({ gate }) => gate !== refusal.gate), refusal];
  note(run, call, { tool: tool.definition.name, verdicts: [refusal] });
  refuse(run, entry, refusal);
  return true;
}
