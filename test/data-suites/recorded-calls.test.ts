import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../src/core/json/value.ts";
import { compileSchema } from "../../src/core/schema/compile-schema.ts";
import { changesOf, judgeText, VALIDATOR_WORDS } from "./judge.ts";
import { sharedRows, skipWithout } from "./shared-rows.ts";

const PATH = "data/streams/chat_with_tool_calls.jsonl.gz";

interface Row {
  id: string;
  request: { tools?: { function?: { name: string; parameters?: JsonObject } }[] };
  calls: { name: string; arguments_text: string; json_ok: boolean; schema_valid: boolean | null }[];
}

/** A call as a model wrote it, with what an independent validator says of it. */
interface Recorded {
  id: string;
  raw: string;
  valid: boolean;
  parameters: JsonObject | undefined;
}

const rows = sharedRows<Row>(PATH);
const skip = skipWithout(rows, PATH);

/** The calls whose tool is on record. */
function recordedCalls({ id, request, calls }: Row): Recorded[] {
  return calls.flatMap(({ name, arguments_text, schema_valid }) => {
    const tool = request.tools?.find((one) => one.function?.name === name)?.function;
    if (typeof schema_valid !== "boolean") return [];
    assert.ok(tool, `${id}: no tool ${name}`);
    return { id, raw: arguments_text, valid: schema_valid, parameters: tool.parameters };
  });
}

/** No false rejects, nothing changed that was valid. */
function assertUntouched({ id, raw, parameters }: Recorded): void {
  const passage = judgeText(raw, compileSchema(parameters));
  assert.equal(passage.refusal, undefined, id);
  assert.deepEqual(changesOf(passage), [], id);
  assert.deepEqual(passage.args, JSON.parse(raw || "{}"), id);
}

function outcomeOf({ id, raw, parameters }: Recorded): "coerced" | "refused" {
  const passage = judgeText(raw, compileSchema(parameters));
  if (!passage.refusal) {
    assert.ok(changesOf(passage).length > 0, id);
    return "coerced";
  }
  assert.ok(passage.refusal.feedback.length > 20, id);
  assert.doesNotMatch(passage.refusal.feedback, VALIDATOR_WORDS, id);
  return "refused";
}

test("every valid call that real models wrote passes the gates untouched", { skip }, (t) => {
  const valid = (rows ?? []).flatMap(recordedCalls).filter((call) => call.valid);
  for (const call of valid) assertUntouched(call);
  t.diagnostic(`${valid.length} calls, no false reject`);
  assert.ok(valid.length > 400);
});

test("every invalid call that real models wrote is coerced on record or refused in plain words", {
  skip,
}, (t) => {
  const outcomes = (rows ?? [])
    .flatMap(recordedCalls)
    .filter((call) => !call.valid)
    .map(outcomeOf);
  const coerced = outcomes.filter((outcome) => outcome === "coerced").length;
  t.diagnostic(`${coerced} coerced, ${outcomes.length - coerced} refused`);
  assert.ok(outcomes.length > 0);
});

const parameters = {
  type: "object",
  properties: { liquid_name: { type: "string" }, celsius: { type: "boolean" } },
  required: ["liquid_name"],
};

test("a valid call passes untouched, with and without arguments", () => {
  assertUntouched({ id: "own", raw: '{"liquid_name":"tea","celsius":true}', valid: true, parameters });
  assertUntouched({ id: "own", raw: "", valid: true, parameters: { type: "object", properties: {} } });
});

for (const [outcome, raw] of [
  ["coerced", '{"liquid_name":"tea","celsius":"true"}'],
  ["refused", '{"liquid_name":"tea","celsius":"yes"}'],
  ["refused", ""],
  ["refused", '{"liquid_name":"te'],
] as const) {
  test(`${JSON.stringify(raw)} is ${outcome}`, () => {
    assert.equal(outcomeOf({ id: "own", raw, valid: false, parameters }), outcome);
  });
}
