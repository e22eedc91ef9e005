import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, JsonValue } from "../../src/core/json/value.ts";
import { compileSchema } from "../../src/core/schema/compile-schema.ts";
import type { CompiledSchema } from "../../src/core/schema/compiled-schema.ts";
import { SchemaRejected } from "../../src/core/schema/schema-rejected.ts";
import type { Change } from "../../src/engine/gates/gate.ts";
import { changesOf, judgeText, VALIDATOR_WORDS } from "./judge.ts";
import { sharedRows, skipWithout } from "./shared-rows.ts";

const PATH = "data/tools/bfcl.jsonl.gz";

/** A row of the Berkeley function-calling leaderboard: the tools that are offered and the calls that are right. */
interface Row {
  id: string;
  tools: { function: { name: string; parameters: JsonObject } }[];
  expected_calls: { name: string; example: JsonObject; schema_valid: boolean }[] | null;
}

interface Expected {
  id: string;
  parameters: JsonObject;
  example: JsonObject;
  /** An independent validator takes the example as it is. The schemas say nothing of undeclared parameters. */
  fits: boolean;
  declared: boolean;
}

const rows = sharedRows<Row>(PATH);
const skip = skipWithout(rows, PATH);

function expectedCalls({ id, tools, expected_calls }: Row): Expected[] {
  return (expected_calls ?? []).map(({ name, example, schema_valid }) => {
    const parameters = tools.find((tool) => tool.function.name === name)?.function.parameters;
    assert.ok(parameters, `${id}: no tool ${name}`);
    const known = Object.keys((parameters["properties"] ?? {}) as JsonObject);
    const declared = Object.keys(example).every((key) => known.includes(key));
    return { id, parameters, example, fits: schema_valid, declared };
  });
}

type Outcome = "untouched" | "coerced" | "refused";

/** Compiles a schema. A default that is not of its parameter's type, the only fault there is, is left out first. */
function compileMended(parameters: JsonObject): { schema: CompiledSchema; mended: boolean } {
  try {
    return { schema: compileSchema(parameters), mended: false };
  } catch (error) {
    assert.ok(error instanceof SchemaRejected);
    const copy = structuredClone(parameters);
    for (const { path, message } of error.faults) {
      assert.match(`${path} ${message}`, /\/default is not of type/);
      const holders = path.split("/").slice(1, -1);
      const holder = holders.reduce((node, key) => node[key] as JsonObject, copy);
      delete holder["default"];
    }
    return { schema: compileSchema(copy), mended: true };
  }
}

/** What the gates make of a call, after checking what must hold for every call. */
function outcomeOf(id: string, schema: CompiledSchema, example: JsonObject): Outcome {
  const passage = judgeText(JSON.stringify(example), schema);
  const changes = changesOf(passage);
  if (passage.refusal) {
    const { gate, feedback } = passage.refusal;
    assert.equal(gate, "schema", id);
    assert.ok(feedback.length > 20, id);
    assert.doesNotMatch(feedback, VALIDATOR_WORDS, id);
    return "refused";
  }
  if (changes.length === 0) {
    assert.deepEqual(passage.args, example, id);
    return "untouched";
  }
  assert.notDeepEqual(passage.args, example, id);
  assert.ok(changes.every(isPermitted), `${id}: ${JSON.stringify(changes)}`);
  const again = schema.check(passage.args ?? null);
  assert.deepEqual([again.ok, again.coercions], [true, []], id);
  return "coerced";
}

/** A null left out, another spelling of the same value, or a list of the one value. */
function isPermitted({ from, to }: Change): boolean {
  if (to === undefined) return from === null;
  if (Array.isArray(to) && to.length === 1) return JSON.stringify(to[0]) === JSON.stringify(from);
  return typeof from === "string" && isSpelling(from, to);
}

function isSpelling(text: string, value: JsonValue): boolean {
  return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
}

test("every expected call of BFCL passes untouched, is coerced on record, or is refused in plain words", {
  skip,
}, (t) => {
  const counts: Record<string, number> = {};
  for (const call of (rows ?? []).flatMap(expectedCalls)) {
    const kind = call.fits ? (call.declared ? "fits" : "undeclared") : "contradicts";
    const { schema, mended } = compileMended(call.parameters);
    const outcome = `${kind}: ${outcomeOf(call.id, schema, call.example)}`;
    if (mended) counts["defaults left out"] = (counts["defaults left out"] ?? 0) + 1;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(counts, {
    "fits: untouched": 2966,
    "undeclared: refused": 3,
    "contradicts: coerced": 101,
    "contradicts: refused": 82,
    "defaults left out": 46,
  });
});

const parameters = {
  type: "object",
  properties: { count: { type: "integer" }, unit: { enum: ["m", "km"] }, note: { type: "string" } },
  required: ["count"],
};

for (const [outcome, example] of [
  ["untouched", { count: 3, unit: "m" }],
  ["coerced", { count: "3", note: null }],
  ["refused", { count: 3, unit: "N/A" }],
  ["refused", { count: "three" }],
  ["refused", { count: 3, colour: "red" }],
] as const) {
  test(`${JSON.stringify(example)} is ${outcome}`, () => {
    assert.equal(outcomeOf("own", compileSchema(parameters), example), outcome);
  });
}
