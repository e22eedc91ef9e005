import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonPath } from "../../../src/core/json/value.ts";
import { CallAccumulator, type OpenCall } from "../../../src/core/protocol/accumulator.ts";
import { Meter } from "../../../src/core/rules/meter.ts";
import { readStep, type Step } from "../../../src/core/rules/steps.ts";
import { ToolRules } from "../../../src/core/rules/tool-rules.ts";
import { parseValuePath } from "../../../src/core/rules/value-path.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";
import type { NormalizeStep } from "../../../src/core/tool.ts";
import type { RegisteredTool } from "../../../src/engine/registry/tool-snapshot.ts";
import { HopelessCalls } from "../../../src/engine/reply/hopeless-calls.ts";
import { toolNamed } from "../../support/engine.ts";
import { type GateCase, gateCases } from "../../support/gate-cases.ts";
import { passCall } from "../../support/gates.ts";

const STEPS: readonly NormalizeStep[] = [
  "trim",
  "digits",
  "chinese_number",
  { map: { a: 1, "1": "b", true: null } },
  { strip_suffix: ["1"] },
  { unit: { n: 2 } },
];

const normalisers = fc.dictionary(
  fc.constantFrom("a", "b", "c", "a[]", "a.b", "b[].a"),
  fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 2 }),
  { maxKeys: 3, noNullPrototype: true },
);

const TOOL = toolNamed("t");

/** A tool whose normalisers lead anywhere, also where the schema has no such parameter. */
function toolOf(
  { schema }: GateCase,
  normalize: Record<string, NormalizeStep[]>,
): RegisteredTool | undefined {
  const normalisers = Object.entries(normalize).map(([path, steps]) => ({
    path: parseValuePath(path) ?? [],
    steps: steps.map((step) => readStep(step, path) as Step),
  }));
  const parts = { normalisers, defaults: {}, checks: [], remotes: [], guard: undefined };
  const rules = new ToolRules({ ...parts, meter: new Meter() });
  try {
    return { ...TOOL, rules, schema: compileSchema(schema) };
  } catch (error) {
    if (error instanceof SchemaRejected) return undefined;
    throw error;
  }
}

/** Whether a call that arrives in fragments was called hopeless, and whether the gates let it pass. */
function play({ text, sizes }: GateCase, tool: RegisteredTool): { hopeless: boolean; passed: boolean } {
  const calls = new HopelessCalls("en", false);
  const seen = new Set<string>();
  let isRepeated = false;
  const accumulator = new CallAccumulator({
    maxLength: 20_000,
    nextId: (id) => id ?? "new",
    onValue(call: OpenCall, path: JsonPath, value) {
      const key = JSON.stringify(path);
      isRepeated ||= seen.has(key);
      seen.add(key);
      calls.look(call, tool, path, value);
    },
  });
  const piece = { index: 0, id: undefined, name: undefined, extra: undefined, place: 0 } as const;
  accumulator.push({ ...piece, id: "c1", name: "t", text: "", kind: "function" });
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    accumulator.push({ ...piece, text: text.slice(at, at + size), kind: "function" });
    at += size;
  }
  const [call] = accumulator.finish();
  const passage = call && passCall(call, tool);
  if (!passage || passage instanceof Promise) return { hopeless: false, passed: false };
  // A member that is written twice counts with its last value, which nobody knows beforehand.
  return {
    hopeless: calls.note("c1") !== undefined && !isRepeated,
    passed: passage.refusal === undefined,
  };
}

test("no call that the gates let pass, repaired, coerced or normalised, was ever called hopeless", () => {
  const counts = { passed: 0, refused: 0, hopeless: 0 };
  fc.assert(
    fc.property(gateCases, normalisers, (one, normalize) => {
      const tool = toolOf(one, normalize);
      if (!tool) return;
      const { hopeless, passed } = play(one, tool);
      assert.ok(!(hopeless && passed), one.text);
      counts[passed ? "passed" : "refused"]++;
      if (hopeless) counts.hopeless++;
    }),
    { numRuns: 300 },
  );
  assert.ok(Math.min(counts.passed, counts.hopeless) > 0, JSON.stringify(counts));
});
