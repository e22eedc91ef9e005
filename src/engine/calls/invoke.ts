import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { Performed, Writes } from "../approvals/writes.ts";
import { passGates, type Verdict } from "../gates/gate.ts";
import type { ToolTransport } from "../ports/tools.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import { refusalMessage, type ToolMessage, toToolMessage } from "../results/results.ts";
import { askRule } from "./ask-rule.ts";
import { runAttempts } from "./attempt.ts";
import {
  deprecatedUse,
  endsRun,
  idempotencyKey,
  type PolicyRecord,
  type StandIns,
  settle,
} from "./policy.ts";
import type { ToolHealth } from "./tool-health.ts";

export interface InvokeDeps {
  transport: ToolTransport;
  health: ToolHealth;
  writes: Writes;
  locale: "en" | "zh";
  repair: "safe" | "off";
  /** Unix milliseconds. */
  now(): number;
  newId(prefix: string): string;
  /** The tools in force, for fallbacks. */
  find(name: string): RegisteredTool | undefined;
}

/** What a call outside of a conversation came to. */
export interface Invocation {
  /** The envelope that a model would have got; `null` after a dry run that passed. */
  result: unknown;
  gates: readonly Verdict[];
  attempts: number;
  duration_ms: number;
  dry_run: boolean;
  /** What policies did, or in a run would have done; absent where they had nothing to do. */
  policy?: readonly PolicyRecord[];
}

const NO_TRACE = "";
/** Whoever holds the admin key, as rules see them. */
const OPERATOR = { name: "admin", level: "admin" };

/**
 * Judges one call and, unless `dryRun`, runs it, with the fallbacks of its policy. An operator's call needs the same approvals as a
 * model's. A policy that would end a run is noted and ends nothing here.
 */
export async function invokeTool(
  deps: InvokeDeps,
  tool: RegisteredTool,
  raw: string,
  dryRun: boolean,
  signal: AbortSignal,
): Promise<Invocation> {
  const { definition } = tool;
  const call: ToolCall = {
    id: deps.newId("call_"),
    name: definition.name,
    kind: "function",
    raw,
    reading: "plain",
    tooLong: false,
    extra: undefined,
  };
  const standIns = operatorsStandIns(deps, call, signal);
  const { verdicts, args, refusal, approval } = await standIns.judge(tool, raw);
  const deprecated = args && deprecatedUse(tool, args);
  const noted = deprecated ? [deprecated] : [];
  const idle = { gates: verdicts, attempts: 0, duration_ms: 0, dry_run: dryRun };
  if (refusal) {
    const ends = endsRun(definition, refusal);
    const policy: PolicyRecord[] = ends ? [{ tool: call.name, class: "argument", action: "fail" }] : [];
    const result = envelope(refusalMessage(call, refusal.code, refusal.feedback));
    return { ...idle, ...(ends && { policy }), result };
  }
  if (approval && !dryRun) {
    const result = envelope(refusalMessage(call, "approval_required", UNASKED[deps.locale]));
    return { ...idle, ...(deprecated && { policy: noted }), result };
  }
  if (dryRun || !args) return { ...idle, ...(deprecated && { policy: noted }), result: null };
  const { message, outcome, policy } = await settle(await standIns.send(tool, args), standIns);
  const all = [...noted, ...policy];
  const numbers = { attempts: outcome.attempts, duration_ms: outcome.durationMs };
  return { ...idle, ...numbers, ...(all.length > 0 && { policy: all }), result: envelope(message) };
}

function operatorsStandIns(deps: InvokeDeps, call: ToolCall, signal: AbortSignal): StandIns {
  const runId = deps.newId("run_");
  const attemptOf = (tool: RegisteredTool) => ({
    runId,
    callId: call.id,
    sessionId: runId,
    user: undefined,
    idempotencyKey: idempotencyKey(runId, call, tool),
    traceparent: NO_TRACE,
  });
  const facts = () => ({ now: deps.now(), sessionId: runId, caller: OPERATOR });
  return {
    locale: deps.locale,
    find: deps.find,
    permits: () => true,
    hasTime: () => !signal.aborted,
    judge(tool, raw) {
      const { definition } = tool;
      return passGates({ ...call, name: definition.name, raw }, tool, {
        locale: deps.locale,
        repair: deps.repair,
        callsOfTool: () => 0,
        isKnown: () => false,
        facts,
        // An operator's call belongs to no session.
        stateFacts: () => ({ ...facts(), state: {}, toolsUsed: {} }),
        isElevated: () => true,
        ask: (rule, args) =>
          askRule(deps.transport, rule, { tool: definition, args, facts: facts() }, attemptOf(tool), signal),
        objection: () => undefined,
      });
    },
    async send(tool, args) {
      const { definition } = tool;
      const attempt = attemptOf(tool);
      const { transport, health } = deps;
      const telling = { locale: deps.locale, select: tool.select };
      const request = async (until: AbortSignal): Promise<Performed> => {
        const outcome = await runAttempts(definition, args, attempt, until, { transport, health });
        return { outcome, message: toToolMessage(call, outcome, definition, telling) };
      };
      if (definition.level === "read") return { tool, args, ...(await request(signal)) };
      const { idempotencyKey: key, sessionId } = attempt;
      const whose = { caller: OPERATOR.name, sessionId, isSessionNamed: false, user: undefined };
      const facts = { args, ...whose, runId, callId: call.id };
      const intent = await deps.writes.intend({ tool: definition, ...facts, idempotencyKey: key });
      const done = await deps.writes.perform(intent, definition, () => request(new AbortController().signal));
      return { tool, args, outcome: done.outcome, message: done.message };
    },
  };
}

const UNASKED = {
  en: "This call needs an approval, which is asked for only in a conversation. It was not run.",
  zh: "该调用需要批准，只有在对话中才会请求批准，未执行。",
};

const envelope = (message: ToolMessage): unknown => JSON.parse(message.content);
