import type { RepairName } from "../../core/json/repair-names.ts";
import { withSpellings } from "../../core/json/spelling.ts";
import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { StateFacts } from "../../core/rules/state-rules.ts";
import type { RuleFacts } from "../../core/rules/tool-rules.ts";
import type { RemoteRule } from "../../core/tool.ts";
import type { ApprovalReason } from "../ports/ledger.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { contextGate } from "./context.ts";
import { rulesGate } from "./rules.ts";
import { schemaGate } from "./schema.ts";
import { syntaxGate } from "./syntax.ts";

export type GateName = "syntax" | "schema" | "rules" | "context";

/** A change that a gate made to the arguments. */
export interface Change {
  /** JSON pointer. */
  readonly path: string;
  /** Absent where there was none. */
  readonly from?: JsonValue;
  /** Absent where the value was left out. */
  readonly to?: JsonValue;
  /** The member of the tool's definition that asked for it; absent for a coercion to the schema. */
  readonly by?: "normalize" | "defaults";
}

/** Why a person has to approve a call: the level of its tool, or arguments that had to be repaired. */
export type NeededApproval = Exclude<ApprovalReason, "none">;

/** What one gate says of one call. */
export type Verdict =
  | {
      gate: GateName;
      pass: true;
      changes?: readonly Change[];
      repairs?: readonly RepairName[];
      /** A person has to approve the call before it runs, for this reason. */
      approval?: NeededApproval;
    }
  | {
      gate: GateName;
      pass: false;
      /** The code in the tool message, for example `arguments_invalid`. */
      code: string;
      /** A closed word for counting, for example `missing`. */
      problem: string;
      /** What the model is told: one sentence it can act on. */
      feedback: string;
      /** JSON pointer of the parameter meant, where there is one. */
      path?: string;
      /** The tool's rule that was not met: its name, or its place among the rules of its kind, from 1. */
      rule?: string;
    };

/** What a service that was asked about a call says; `undefined` where it could not be asked. */
export type RemoteAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly message: unknown }
  | undefined;

/** What the gates know beside the call. */
export interface GateContext {
  locale: "en" | "zh";
  /** `safe`: arguments that are not JSON are repaired where they have one reading only. */
  repair: "safe" | "off";
  /** How often the tool has already been called in this run, this call not counted. */
  callsOfTool(name: string): number;
  /** Whether the same call was made before in this run, so that this one is answered without being run. */
  isKnown(tool: RegisteredTool, args: JsonObject): boolean;
  /** What the tool's rules may know. */
  facts(): RuleFacts;
  /** Asks the service of a rule about arguments. Never rejects. */
  ask(rule: RemoteRule, args: JsonObject): Promise<RemoteAnswer>;
  /** What preconditions on the session may know. */
  stateFacts(): StateFacts;
  /** Admin tools may be used in this session now. */
  isElevated(): boolean;
  /** `undefined`: this caller may use the tool. Else why not. */
  objection(tool: RegisteredTool): { code: string; problem: string; feedback: string } | undefined;
}

/** A call on its way through the gates. */
export interface CheckedCall {
  readonly call: ToolCall;
  readonly tool: RegisteredTool;
  /** Set by the syntax gate, replaced by gates that change it. */
  value: JsonValue;
  /** Set by the syntax gate: what had to be put right before the arguments could be read. */
  repairs: readonly RepairName[];
  /** Taken out of the arguments, where the tool asks for it. */
  thought?: string;
}

/** One check that a call must pass. Bad model output is a verdict, never an exception. It waits only where it asks a service. */
export interface Gate {
  readonly name: GateName;
  check(checked: CheckedCall, context: GateContext): Verdict | Promise<Verdict>;
}

/** The one order of checks, after the syntax. */
const GATES: readonly Gate[] = [schemaGate, rulesGate, contextGate];

export interface Passage {
  tool: string;
  verdicts: readonly Verdict[];
  /** What the model thought, where the tool asks for it. */
  thought?: string;
  /** The arguments for the tool, when every gate let the call pass. */
  args: JsonObject | undefined;
  refusal: Extract<Verdict, { pass: false }> | undefined;
  /** A person has to approve the call before it runs. */
  approval: NeededApproval | undefined;
}

/**
 * Sends a call through the gates; the first that refuses it is the last that is asked. `fill` replaces what the arguments refer
 * to, once they are read. A promise only for a tool whose rules ask a service.
 */
export function passGates(
  call: ToolCall,
  tool: RegisteredTool,
  context: GateContext,
  fill?: (value: JsonValue) => JsonValue,
): Passage | Promise<Passage> {
  const checked: CheckedCall = { call, tool, value: null, repairs: [] };
  const verdicts: Verdict[] = [];
  const end = stopped(syntaxGate.check(checked, context), checked, verdicts);
  if (end) return end;
  if (tool.definition.thought) takeThought(checked);
  if (fill) checked.value = fill(checked.value);
  return proceed(GATES, checked, context, verdicts);
}

/** Takes the thought out of the arguments: no gate judges it, and no tool gets it. */
export function takeThought(checked: CheckedCall): void {
  const { value } = checked;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  if (!Object.hasOwn(value, "thought")) return;
  const { thought, ...args } = value;
  checked.value = withSpellings(args, value);
  checked.thought = typeof thought === "string" ? thought : stringifyJson(thought ?? null);
}

function proceed(
  gates: readonly Gate[],
  checked: CheckedCall,
  context: GateContext,
  verdicts: Verdict[],
): Passage | Promise<Passage> {
  for (const [at, gate] of gates.entries()) {
    const verdict = gate.check(checked, context);
    if (verdict instanceof Promise) {
      return verdict.then(
        (later) =>
          stopped(later, checked, verdicts) ?? proceed(gates.slice(at + 1), checked, context, verdicts),
      );
    }
    const end = stopped(verdict, checked, verdicts);
    if (end) return end;
  }
  const args = checked.value as JsonObject;
  const approval = verdicts.map((verdict) => verdict.pass && verdict.approval).find((reason) => reason);
  return {
    ...thoughtOf(checked),
    tool: checked.call.name,
    verdicts,
    args,
    refusal: undefined,
    approval: approval || undefined,
  };
}

/** Notes a verdict; the end of the passage if it is a refusal. */
function stopped(verdict: Verdict, checked: CheckedCall, verdicts: Verdict[]): Passage | undefined {
  verdicts.push(verdict);
  if (verdict.pass) return undefined;
  return {
    ...thoughtOf(checked),
    tool: checked.call.name,
    verdicts,
    args: undefined,
    refusal: verdict,
    approval: undefined,
  };
}

const thoughtOf = ({ thought }: CheckedCall): Pick<Passage, "thought"> =>
  thought === undefined ? {} : { thought };
