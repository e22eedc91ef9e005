import { GatewayError } from "../../errors.ts";
import { askRule } from "../calls/ask-rule.ts";
import { type GateContext, passGates } from "../gates/gate.ts";
import type { Caller } from "../offer.ts";
import type { LedgerChange, LedgerEntry } from "../ports/ledger.ts";
import type { ToolTransport } from "../ports/tools.ts";
import { canaryKey, type RegisteredTool, type ToolSnapshot } from "../registry/tool-snapshot.ts";
import { RunSession } from "../sessions/run-session.ts";
import type { SessionBook } from "../sessions/session-book.ts";
import { describeCall, shownRequest } from "./described.ts";

export interface EditDeps {
  transport: ToolTransport;
  registry: { snapshot(): ToolSnapshot };
  sessions: SessionBook;
  findCaller(name: string): Caller | undefined;
  locale: "en" | "zh";
  /** Unix milliseconds. */
  now(): number;
}

/**
 * What changes in an entry when whoever approves it gives other arguments, as JSON text: they pass the gates like those of a model. Throws
 * `invalid_value` with what is wrong with them.
 */
export async function editArguments(deps: EditDeps, entry: LedgerEntry, args: string): Promise<LedgerChange> {
  const tool = deps.registry.snapshot().forSession(canaryKey(entry)).get(entry.tool);
  if (!tool) throw new GatewayError("approval_stale", "There is no such tool any more.");
  const call = {
    id: entry.callId,
    name: entry.tool,
    kind: "function",
    raw: args,
    reading: "plain",
    tooLong: false,
  } as const;
  const passage = await passGates({ ...call, extra: undefined }, tool, await contextOf(deps, entry, tool));
  if (!passage.args) throw invalid(passage.refusal?.feedback ?? "The arguments are refused.");
  const request = shownRequest(tool.definition, passage.args);
  if (request instanceof Error) throw invalid(request.message);
  const described = describeCall(tool.definition, passage.args, entry);
  if (described.argumentsHash === entry.argumentsHash) return {};
  return { ...described, askedArguments: entry.askedArguments ?? entry.arguments };
}

const invalid = (message: string) => new GatewayError("invalid_value", message, { param: "arguments" });

async function contextOf(
  deps: EditDeps,
  entry: LedgerEntry,
  { definition }: RegisteredTool,
): Promise<GateContext> {
  const { transport, locale, now, sessions } = deps;
  const name = { caller: entry.caller, id: entry.sessionId };
  const session = new RunSession(sessions, name, entry.isSessionNamed, now);
  await session.refresh();
  const level = deps.findCaller(entry.caller)?.maxLevel ?? "read";
  const facts = () => ({ now: now(), sessionId: entry.sessionId, caller: { name: entry.caller, level } });
  return {
    locale,
    repair: "off",
    callsOfTool: () => 0,
    isKnown: () => false,
    facts,
    stateFacts: () => ({ ...facts(), ...session.facts }),
    isElevated: () => session.isElevated,
    ask(rule, args) {
      const { runId, callId, sessionId, user, idempotencyKey } = entry;
      const attempt = { runId, callId, sessionId, user, idempotencyKey, traceparent: "" };
      const question = { tool: definition, args, facts: facts() };
      return askRule(transport, rule, question, attempt, new AbortController().signal);
    },
    objection: () => undefined,
  };
}
