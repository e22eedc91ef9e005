import { canonicalHash } from "../../core/json/stringify.ts";
import type { JsonObject } from "../../core/json/value.ts";
import type { ToolCall } from "../../core/protocol/accumulator.ts";
import type { Objection } from "../gates/context.ts";
import type { GateContext } from "../gates/gate.ts";
import type { RegisteredTool } from "../registry/tool-snapshot.ts";
import type { Run } from "../run-state.ts";
import { askRule } from "./ask-rule.ts";
import { CALL_TEXTS } from "./call-texts.ts";

/** Equal for calls that are the same whatever their spelling. */
export function callKey({ definition }: RegisteredTool, args: JsonObject): string {
  return `${definition.name} ${canonicalHash(args)}`;
}

/** Whether a tool's calls depend on what other runs of the session may have changed meanwhile. */
export function dependsOnSession({ definition, stateRules }: RegisteredTool): boolean {
  return definition.level === "admin" || !stateRules.isEmpty;
}

/** What the gates know of a run and of a call in it; `isKnown` says by key which calls will not run again. */
export function gateContext(
  run: Run,
  call: Pick<ToolCall, "id">,
  tool: RegisteredTool,
  isKnown: (key: string) => boolean = () => false,
): GateContext {
  const { deps, caller, sessionId } = run;
  const { definition } = tool;
  const facts = () => ({ now: deps.now(), sessionId, caller: { name: caller.name, level: caller.maxLevel } });
  return {
    locale: run.locale,
    repair: deps.repair,
    callsOfTool: (name) => run.callsOfTool.get(name) ?? 0,
    isKnown: (tool, args) => isKnown(callKey(tool, args)),
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
    objection: () => (run.session.isKnown || !dependsOnSession(tool) ? undefined : unknownSession(run)),
  };
}

function unknownSession({ locale }: Run): Objection {
  const feedback = CALL_TEXTS[locale].sessionUnknown;
  return { code: "store_unavailable", problem: "session_unknown", feedback };
}
