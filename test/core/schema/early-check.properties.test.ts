import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { stringifyJson } from "../../../src/core/json/stringify.ts";
import type { JsonPath, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { explain } from "../../../src/core/schema/message.ts";
import { argumentsOf, schemas } from "./schema-arbitrary.ts";

/** Every value below the root, in the order in which a parser completes them. */
function parts(value: JsonValue): { path: JsonPath; value: JsonValue }[] {
  const found: { path: JsonPath; value: JsonValue }[] = [];
  const parser = new JsonParser({ onValue: (path, part) => void found.push({ path, value: part }) });
  parser.push(stringifyJson(value));
  return found.filter(({ path }) => path.length > 0);
}

test("arguments with a hopeless value are refused as a whole, and many refused ones have one", () => {
  const counts = { accepted: 0, refused: 0, foreseen: 0 };
  fc.assert(
    fc.property(schemas, fc.array(argumentsOf, { minLength: 1, maxLength: 8 }), (document, all) => {
      const schema = compileSchema(document);
      for (const value of all) {
        const problems = parts(value).map((part) => schema.hopeless(part.path, part.value, { left: 10_000 }));
        const problem = problems.find((one) => one !== undefined);
        const { ok } = schema.check(value);
        assert.ok(!(ok && problem), problem && explain(problem, "en"));
        if (problem) assert.notEqual(explain(problem, "en"), explain(problem, "zh"));
        counts[ok ? "accepted" : "refused"]++;
        if (problem) counts.foreseen++;
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(counts.accepted > 0 && counts.foreseen > counts.refused / 4, JSON.stringify(counts));
});
