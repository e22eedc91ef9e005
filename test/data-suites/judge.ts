import type { ToolCall } from "../../src/core/protocol/accumulator.ts";
import type { CompiledSchema } from "../../src/core/schema/compiled-schema.ts";
import type { Change, Passage } from "../../src/engine/gates/gate.ts";
import { toolNamed } from "../support/engine.ts";
import { passCall } from "../support/gates.ts";

const TOOL = toolNamed("t");

/** Sends a call through the gates of a read tool with this schema and no rules. */
export function judgeCall(call: ToolCall, schema: CompiledSchema): Passage {
  const passage = passCall(call, { ...TOOL, schema });
  if (passage instanceof Promise) throw new Error("the gates wait");
  return passage;
}

/** The same for the text of its arguments. */
export function judgeText(raw: string, schema: CompiledSchema): Passage {
  const reading = "plain";
  return judgeCall(
    { id: "c1", name: "t", kind: "function", raw, reading, tooLong: false, extra: undefined },
    schema,
  );
}

/** What the gates changed, in order. */
export function changesOf({ verdicts }: Passage): readonly Change[] {
  return verdicts.flatMap((verdict) => (verdict.pass ? (verdict.changes ?? []) : []));
}

/** Words of the validator, which a model is never told. */
export const VALIDATOR_WORDS =
  /\bajv\b|must NOT|must have required property|additional propert|must be equal to|instancePath|schemaPath|#\/|\/properties\b/i;
