import type { ToolCall } from "../core/protocol/accumulator.ts";
import { askRule } from "./ask-rule.ts";
import { runAttempts } from "./attempt.ts";
import { passGates, type Verdict } from "./gates/gate.ts";
import type { ToolTransport } from "./ports.ts";
import { refusalMessage, type ToolMessage, toToolMessage } from "./results.ts";
import type { RegisteredTool } from "./tool-snapshot.ts";

export interface InvokeDeps {
  transport: ToolTransport;
  locale: "en" | "zh";
  repair: "safe" | "off";
  /** Unix milliseconds. */
  now(): number;
  newId(prefix: string): string;
}

/** What a call outside of a conversation came to. */
export interface Invocation {
  /** The envelope that a model would have got; `null` after a dry run that passed. */
  result: unknown;
  gates: readonly Verdict[];
  attempts: number;
  duration_ms: number;
  dry_run: boolean;
}

const NO_TRACE = "";
/** Whoever holds the admin key, as rules see them. */
const OPERATOR = { name: "admin", level: "admin" };

/** Judges one call and, unless `dryRun`, runs it. An operator's call needs the same approvals as a model's. */
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
  const runId = deps.newId("run_");
  const attempt = {
    runId,
    callId: call.id,
    sessionId: runId,
    user: undefined,
    idempotencyKey: `${runId}:${call.id}`,
    traceparent: NO_TRACE,
  };
  const facts = () => ({ now: deps.now(), sessionId: runId, caller: OPERATOR });
  const { verdicts, args, refusal } = await passGates(call, tool, {
    locale: deps.locale,
    repair: deps.repair,
    callsOfTool: () => 0,
    facts,
    ask: (rule, asked) =>
      askRule(deps.transport, rule, { tool: definition, args: asked, facts: facts() }, attempt, signal),
    objection: () => undefined,
  });
  const idle = { gates: verdicts, attempts: 0, duration_ms: 0, dry_run: dryRun };
  if (refusal) return { ...idle, result: envelope(refusalMessage(call, refusal.code, refusal.feedback)) };
  if (dryRun || !args) return { ...idle, result: null };
  const outcome = await runAttempts(definition, args, attempt, signal, { transport: deps.transport });
  const result = envelope(toToolMessage(call, outcome, definition, deps.locale));
  return { ...idle, result, attempts: outcome.attempts, duration_ms: outcome.durationMs };
}

const envelope = (message: ToolMessage): unknown => JSON.parse(message.content);
