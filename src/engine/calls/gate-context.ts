import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { GateContext } from "../gates/gate.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { Run } from "../run-state.ts";
import { askRule } from "./ask-rule.ts";

/** What the gates know of a run and of a call in it. */
export function gateContext(
  run: Run,
  call: Pick<ToolCall, "id">,
  { definition }: RegisteredTool,
): GateContext {
  const { deps, caller, sessionId } = run;
  const facts = () => ({ now: deps.now(), sessionId, caller: { name: caller.name, level: caller.maxLevel } });
  return {
    locale: run.locale,
    repair: deps.repair,
    callsOfTool: (name) => run.callsOfTool.get(name) ?? 0,
    facts,
    stateFacts: () => ({ ...facts(), ...run.session.facts }),
    isElevated: () => run.session.isElevated,
    ask(rule, args) {
      const attempt = {
        runId: run.id,
        callId: call.id,
        sessionId,
        user: run.user,
        idempotencyKey: `${run.id}:${call.id}`,
        traceparent: "",
      };
      return askRule(deps.transport, rule, { tool: definition, args, facts: facts() }, attempt, run.signal);
    },
    objection: () => undefined,
  };
}
