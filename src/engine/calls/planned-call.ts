import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { GatewayError } from "../../errors.ts";
import { type NeededApproval, type Passage, passGates, type Verdict } from "../gates/gate.ts";
import type { LedgerEntry } from "../ports/ledger.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { refusalMessage, type ToolMessage } from "../results/results.ts";
import { keptStart } from "../run-journal.ts";
import type { CallRecord } from "../run-record.ts";
import type { Run } from "../run-state.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import type { Refused } from "./corrections.ts";
import { callKey, gateContext } from "./gate-context.ts";
import { deprecatedUse, endsRun, type PolicyRecord, toolFailed } from "./policy.ts";

/** What one call of a round came to. */
export interface CallResult {
  /** The call as it goes back upstream: its arguments are always the text of an object. */
  call: ToolCall;
  message: ToolMessage;
  /** Why the call was not run, if it was refused. */
  refused: Refused | undefined;
  /** The call waits for a person. */
  pending?: LedgerEntry | undefined;
}

/** A call between the model's wish and its answer. */
export interface PlannedCall {
  call: ToolCall;
  record: CallRecord;
  tool: RegisteredTool | undefined;
  args: JsonObject | undefined;
  /** A person has to approve it before it runs. */
  approval: NeededApproval | undefined;
  /** Name and canonical arguments: equal keys are the same call. */
  key: string;
  /** What the model is told beside the answer. */
  note: string | undefined;
  result: CallResult | undefined;
  /** The earlier call of the message that this one is the same as. */
  twin: PlannedCall | undefined;
  /** The tool's policy ends the run with this. */
  fatal: GatewayError | undefined;
}

/** Takes up a call of the model. One that cannot be judged has its result already. */
export function openCall(run: Run, call: ToolCall): PlannedCall {
  const record = run.recordCall(call, "gateway");
  const tool = run.offer.gateway.get(call.name);
  const planned: PlannedCall = {
    call,
    record,
    tool,
    args: undefined,
    approval: undefined,
    key: "",
    note: undefined,
    result: undefined,
    twin: undefined,
    fatal: undefined,
  };
  if (!run.takeCall()) {
    return refuse(run, planned, {
      code: "too_many_tool_calls",
      problem: "tool_calls",
      feedback: CALL_TEXTS[run.locale].limit,
    });
  }
  if (tool) return planned;
  record.owner = "unknown";
  return refuse(run, planned, {
    code: "tool_not_found",
    problem: "unknown_tool",
    feedback: CALL_TEXTS[run.locale].unknownTool(call.name, run.offer.names),
  });
}

/**
 * Sends a call through the gates, with `fill` for what it refers to; `isKnown` says by key which calls will not run again. One that is
 * refused has its result afterwards.
 */
export async function judge(
  run: Run,
  planned: PlannedCall,
  isKnown: (key: string) => boolean,
  fill?: (value: JsonValue) => JsonValue,
): Promise<void> {
  const { call, tool, record } = planned;
  if (!tool || planned.result) return;
  const passage =
    run.hopeless.passage(call) ?? (await passGates(call, tool, gateContext(run, call, tool, isKnown), fill));
  record.gates = passage.verdicts;
  record.version = tool.definition.version;
  if (passage.thought !== undefined) record.thought = keptStart(passage.thought);
  note(run, call, passage);
  if (passage.refusal) {
    refuseByGate(run, planned, tool, passage.refusal);
    return;
  }
  planned.args = passage.args;
  planned.approval = passage.approval;
  planned.key = callKey(tool, passage.args ?? {});
  noteDeprecated(run, planned, tool);
}

/** Tells what each gate said of a call. */
export function note(
  run: Run,
  { id }: Pick<ToolCall, "id">,
  { verdicts, tool }: Pick<Passage, "verdicts" | "tool">,
): void {
  for (const verdict of verdicts) {
    const said = { tool, gate: verdict.gate, pass: verdict.pass };
    run.scope.verdict({ ...said, ...(!verdict.pass && { problem: verdict.problem }) }, id);
    const coercions = verdict.pass ? (verdict.changes ?? []).filter(({ by }) => by === undefined) : [];
    if (coercions.length > 0) run.scope.coerced(tool, coercions.length);
    if (verdict.pass && verdict.repairs) run.scope.repaired(tool, verdict.repairs);
  }
}

/** Refuses a call before its turn, with what a gate will say of it then. */
export function refuseEarly(run: Run, planned: PlannedCall, tool: RegisteredTool, refusal: Refusal): void {
  planned.record.gates = [refusal];
  planned.record.version = tool.definition.version;
  note(run, planned.call, { tool: tool.definition.name, verdicts: [refusal] });
  refuseByGate(run, planned, tool, refusal);
}

export type Refusal = Extract<Verdict, { pass: false }>;

function refuseByGate(run: Run, planned: PlannedCall, tool: RegisteredTool, refusal: Refusal): PlannedCall {
  refuse(run, planned, refusal);
  if (endsRun(tool.definition, refusal)) {
    planned.fatal = toolFailed(tool.definition.name, "argument");
    notePolicy(run, planned, [{ tool: tool.definition.name, class: "argument", action: "fail" }]);
  }
  return planned;
}

function noteDeprecated(run: Run, planned: PlannedCall, tool: RegisteredTool): void {
  const use = planned.args && deprecatedUse(tool, planned.args);
  if (!use) return;
  notePolicy(run, planned, [use]);
  if (use.action === "tell") planned.note = deprecatedNote(run.locale, tool, use.parameters);
  if (use.action === "fail") planned.fatal = toolFailed(tool.definition.name, "deprecated");
}

function deprecatedNote(
  locale: "en" | "zh",
  { definition }: RegisteredTool,
  parameters?: readonly string[],
): string {
  const texts = CALL_TEXTS[locale];
  if (parameters) return texts.deprecated(parameters);
  const { use, message = "" } = definition.deprecated ?? {};
  return `${texts.deprecatedTool(definition.name, use)} ${message}`.trim();
}

/** Writes down what policies did about a call. */
export function notePolicy(run: Run, { call, record }: PlannedCall, policy: readonly PolicyRecord[]): void {
  if (policy.length === 0) return;
  record.policy = [...(record.policy ?? []), ...policy];
  for (const done of policy) run.scope.policy(done, call.id);
}

/** Answers a call that is not run with an explanation. */
export function refuse(
  run: Run,
  planned: PlannedCall,
  { feedback, ...refused }: Refused & Pick<Refusal, "feedback">,
): PlannedCall {
  const { call, record } = planned;
  record.outcome = "rejected";
  record.error_kind = refused.problem;
  planned.result = {
    call,
    message: refusalMessage(call, refused.code, feedback),
    refused,
  };
  run.scope.refused(call.name);
  run.answer.progress({
    type: "tool.rejected",
    ...run.names(call),
    problem: refused.problem,
    message: feedback,
  });
  run.summarise(call, { ok: false, cached: false, attempts: 0, duration_ms: 0, error_kind: refused.problem });
  return planned;
}
