import { explain } from "../../core/schema/message.ts";
import type { Gate } from "./gate.ts";

/** Gate 2: the arguments fit the tool's schema, as they are or after lossless coercion. */
export const schemaGate: Gate = {
  name: "schema",
  check(checked, { locale }) {
    const verdict = checked.tool.schema.check(checked.value);
    if (verdict.ok) {
      checked.value = verdict.value;
      return { gate: "schema", pass: true, changes: verdict.coercions };
    }
    const [problem] = verdict.problems;
    return {
      gate: "schema",
      pass: false,
      code: "arguments_invalid",
      problem: problem?.kind ?? "rule",
      feedback: problem ? explain(problem, locale) : "The arguments do not fit the tool's schema.",
    };
  },
};
