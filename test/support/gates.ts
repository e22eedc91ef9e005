import type { ToolCall } from "../../src/core/protocol/accumulator.ts";
import { type GateContext, type Passage, passGates } from "../../src/engine/gates/gate.ts";
import type { RegisteredTool } from "../../src/engine/registry/tool-snapshot.ts";
import { toolNamed } from "./engine.ts";

/** Sends the arguments `raw` of a call of the tool `t` through the gates. */
export function passLater(
  raw: string,
  change: object = {},
  context: Partial<GateContext> = {},
  call: Partial<ToolCall> = {},
): Passage | Promise<Passage> {
  const whole: ToolCall = {
    id: "c1",
    name: "t",
    kind: "function",
    raw,
    reading: "plain",
    tooLong: false,
    extra: undefined,
    ...call,
  };
  return passCall(whole, toolNamed("t", change), context);
}

const FACTS = { now: Date.UTC(2026, 0, 2), sessionId: "s1", caller: { name: "app", level: "write" } };

/** Sends a call of a tool through the gates. */
export function passCall(
  call: ToolCall,
  tool: RegisteredTool,
  context: Partial<GateContext> = {},
): Passage | Promise<Passage> {
  return passGates(call, tool, {
    locale: "en",
    repair: "safe",
    callsOfTool: () => 0,
    isKnown: () => false,
    facts: () => FACTS,
    stateFacts: () => ({ ...FACTS, state: {}, toolsUsed: {} }),
    isElevated: () => false,
    ask: async () => undefined,
    objection: () => undefined,
    ...context,
  });
}

/** The same for a tool that asks no service, which must not wait for anything. */
export function pass(...of: Parameters<typeof passLater>): Passage {
  const passage = passLater(...of);
  if (passage instanceof Promise) throw new Error("the gates wait");
  return passage;
}
