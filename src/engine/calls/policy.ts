import { stringifyJson } from "../../core/json/stringify.ts";
import type { JsonObject } from "../../core/json/value.ts";
import type { ErrorClass, PolicyAction, ToolDefinition, ToolFallback } from "../../core/tool.ts";
import { actionFor, fallbackArguments } from "../../core/tool-policy.ts";
import { GatewayError } from "../../errors.ts";
import type { Passage, Verdict } from "../gates/gate.ts";
import type { ToolOutcome } from "../ports/telemetry.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { type CallName, type ToolMessage, withNote } from "../results/results.ts";
import { outcomeOf, type ToolOutcomeResult } from "./attempt.ts";
import { CALL_TEXTS } from "./call-texts.ts";
import { mayHaveActed } from "./write-policy.ts";

/** One thing that the policy of a tool did about a call; telling the model of a failure is not noted. */
export interface PolicyRecord {
  /** The tool whose policy it was: the one called, or a fallback that failed too. */
  tool: string;
  class: ErrorClass;
  action: PolicyAction;
  /** With the class `deprecated`: the parameters meant. */
  parameters?: readonly string[];
  /** With the action `fallback`: what became of it. */
  fallback?: FallbackRecord;
}

/** A call of a tool in place of another. */
export interface FallbackRecord {
  tool: string;
  /** `unavailable`: it was not asked, for the reason in `error_kind`. */
  outcome: ToolOutcome | "unavailable";
  gates: readonly Verdict[];
  attempts: number;
  duration_ms: number;
  error_kind?: string;
}

/** A call that was sent to a tool, and what came back. */
export interface Tried {
  tool: RegisteredTool;
  args: JsonObject;
  outcome: ToolOutcomeResult;
  /** Under the name that the model called. */
  message: ToolMessage;
}

/** Where fallbacks are found, and how they are judged and sent. */
export interface StandIns {
  locale: "en" | "zh";
  find(name: string): RegisteredTool | undefined;
  /** Whether there is time for another request. */
  hasTime(): boolean;
  /** Whether the caller may use the tool at all. */
  permits(tool: RegisteredTool): boolean;
  /** The gates of the fallback itself. */
  judge(tool: RegisteredTool, raw: string): Passage | Promise<Passage>;
  send(tool: RegisteredTool, args: JsonObject): Promise<Tried>;
}

/** The key of all attempts of one tool for a call: another one for each fallback, since two tools may be one server. */
export function idempotencyKey(runId: string, call: CallName, { definition }: RegisteredTool): string {
  const key = `${runId}:${call.id}`;
  return definition.name === call.name ? key : `${key}:${definition.name}`;
}

/** What a call came to in the end, with all that was asked for it. */
export interface Settled {
  message: ToolMessage;
  outcome: ToolOutcomeResult;
  policy: readonly PolicyRecord[];
  /** The policy ends the run with this. */
  fatal: GatewayError | undefined;
}

/**
 * Does what the policies say about a call that was sent.
 *
 * 1. A failure asks the fallback, whose own policy holds if it fails too; no tool is asked twice for one call.
 * 2. A fallback passes its own gates with its own arguments, and is one that the caller may use; else the model is told of the failure.
 * 3. After a write that may have been carried out no other tool is asked.
 * 4. The model reads the answer of the last tool that was asked, under the name that it called, with a note.
 */
export async function settle(first: Tried, standIns: StandIns): Promise<Settled> {
  const policy: PolicyRecord[] = [];
  const asked = new Set([first.tool.definition.name]);
  let last = first;
  let fatal: GatewayError | undefined;
  let { attempts, durationMs } = first.outcome;
  for (;;) {
    const { definition } = last.tool;
    const kind = classOf(last.message);
    const action = kind && actionFor(definition, kind);
    if (!kind || (action !== "fail" && action !== "fallback")) break;
    const done: PolicyRecord = { tool: definition.name, class: kind, action };
    policy.push(done);
    if (action === "fail") fatal = toolFailed(definition.name, kind);
    if (action === "fail" || !definition.fallback) break;
    const { record, next } = await askFallback(last, definition.fallback, standIns, asked);
    done.fallback = record;
    if (!next) break;
    last = next;
    attempts += last.outcome.attempts;
    durationMs += last.outcome.durationMs;
  }
  const outcome = { ...last.outcome, attempts, durationMs };
  return { message: inPlaceOf(first, last, standIns.locale), outcome, policy, fatal };
}

/** The error class of a message about a call that was sent; `undefined` where a policy has nothing to say. */
function classOf({ ok, errorKind }: ToolMessage): ErrorClass | undefined {
  return ok || errorKind === "cancelled" ? undefined : (errorKind as ErrorClass | undefined);
}

async function askFallback(
  failed: Tried,
  fallback: ToolFallback,
  standIns: StandIns,
  asked: Set<string>,
): Promise<{ record: FallbackRecord; next?: Tried }> {
  const name = fallback.tool;
  const record: FallbackRecord = {
    tool: name,
    outcome: "unavailable",
    gates: [],
    attempts: 0,
    duration_ms: 0,
  };
  const tool = standIns.find(name);
  const reason = obstacle(failed, tool, standIns, asked.has(name));
  if (!tool || reason !== undefined) return { record: { ...record, error_kind: reason ?? "not_registered" } };
  asked.add(name);
  const passage = await standIns.judge(tool, stringifyJson(fallbackArguments(fallback, failed.args)));
  record.gates = passage.verdicts;
  if (!passage.args || passage.approval) {
    const why = passage.refusal?.problem ?? "approval";
    return { record: { ...record, outcome: "rejected", error_kind: why } };
  }
  const next = await standIns.send(tool, passage.args);
  const { attempts, durationMs, errorKind } = next.outcome;
  record.outcome = outcomeOf(errorKind, next.message.ok);
  record.attempts = attempts;
  record.duration_ms = durationMs;
  if (next.message.errorKind) record.error_kind = next.message.errorKind;
  return { record, next };
}

function obstacle(
  { tool: { definition }, outcome }: Tried,
  next: RegisteredTool | undefined,
  standIns: StandIns,
  wasAsked: boolean,
): string | undefined {
  if (mayHaveActed(definition, outcome)) return "may_have_run";
  if (!next) return "not_registered";
  if (wasAsked) return "asked_before";
  if (!standIns.permits(next)) return "not_permitted";
  return standIns.hasTime() ? undefined : "no_time";
}

function inPlaceOf(first: Tried, last: Tried, locale: "en" | "zh"): ToolMessage {
  if (first === last) return first.message;
  const note = CALL_TEXTS[locale].inPlaceOf(last.tool.definition.name, first.tool.definition.name);
  return { ...last.message, content: withNote(last.message.content, note) };
}

/** What a tool's policy says about a call that passed its gates, where the tool or parameters that it uses are deprecated. */
export function deprecatedUse(
  { definition, findDeprecated }: Pick<RegisteredTool, "definition" | "findDeprecated">,
  args: JsonObject,
): PolicyRecord | undefined {
  const parameters = findDeprecated?.(args) ?? [];
  if (parameters.length === 0 && !definition.deprecated) return undefined;
  const use = { tool: definition.name, class: "deprecated" } as const;
  // A whole tool that is deprecated has another one to be named; of parameters the model is told where the policy says so.
  if (definition.deprecated) return { ...use, action: definition.policy?.deprecated ?? "tell" };
  return { ...use, action: actionFor(definition, "deprecated"), parameters };
}

/** Whether a gate that refused a call judged its arguments: then the tool's policy for `argument` holds. */
export function endsRun(definition: ToolDefinition, refusal: Extract<Verdict, { pass: false }>): boolean {
  const judgesArguments = refusal.gate !== "context" && refusal.code !== "check_unavailable";
  return judgesArguments && actionFor(definition, "argument") === "fail";
}

/**
 * The error that ends a run because a tool's policy wants it. It must not be repeated as it is: other tools of the run may have
 * written.
 */
export function toolFailed(tool: string, kind: ErrorClass): GatewayError {
  const message = `The tool "${tool}" ${SAID[kind]}, and its policy ends the run on that.`;
  return new GatewayError("tool_failed", message, { headers: { "x-should-retry": "false" } });
}

const SAID: Readonly<Record<ErrorClass, string>> = {
  argument: "was called with arguments that it does not take",
  business: "refused the call",
  permission: "did not permit the call",
  transient: "is not available",
  permanent: "failed",
  timeout: "did not answer in time",
  deprecated: "was called with a deprecated parameter",
};
