import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { CheckState } from "../../../src/core/schema/check-state.ts";
import { prepareSchema } from "../../../src/core/schema/compile-schema.ts";
import { CompiledSchema } from "../../../src/core/schema/compiled-schema.ts";
import { Patterns } from "../../../src/core/schema/pattern.ts";
import { SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";
import { sharedText, skipWithout } from "./shared-files.ts";

interface Group {
  readonly description: string;
  readonly schema: JsonValue;
  readonly tests: readonly {
    readonly description: string;
    readonly data: JsonValue;
    readonly valid: boolean;
  }[];
}

interface Suite {
  readonly files: Readonly<Record<string, readonly Group[]>>;
}

/** What tool schemas may not use; the groups about it cannot be played. */
const REFUSED: ReadonlySet<string> = new Set([
  "keyword_not_allowed",
  "name_not_allowed",
  "ref_not_local",
  "ref_unresolved",
  "ref_cycle",
  "dialect_not_supported",
  "pattern_unsupported",
  "schema_invalid",
  "schema_unsatisfiable",
]);

const SAMPLE: readonly Group[] = [
  group({ prefixItems: [{ type: "string" }], items: false }, [
    [["a"], true],
    [["a", 1], false],
  ]),
  group({ type: "number", multipleOf: 0.01 }, [
    [19.99, true],
    [19.999, false],
  ]),
  group({ $defs: { "a/b": { minimum: 3 } }, $ref: "#/$defs/a~1b" }, [
    [3, true],
    [2, false],
  ]),
  group({ properties: { a: true }, allOf: [{ properties: { b: true } }], unevaluatedProperties: false }, [
    [{ a: 1, b: 2 }, true],
    [{ c: 3 }, false],
  ]),
];

describe("validity by JSON Schema", () => {
  it("holds for a sample", () => {
    const { failures } = playAll({ files: { sample: SAMPLE } });
    assert.deepEqual(failures, []);
  });

  for (const draft of ["draft7", "draft2020-12"]) {
    const path = `data/json-schema/${draft}.json`;
    const text = sharedText(path);
    const known = sharedText(`data/json-schema/ajv-8.20.0-known-failures.${draft}.json`);
    it(`fails no test of the ${draft} suite that plain ajv passes`, {
      skip: skipWithout(text && known, path),
    }, (t) => {
      const expected = new Set((JSON.parse(known ?? "[]") as string[][]).map((names) => names.join(" | ")));
      const { passed, failures, refused } = playAll(JSON.parse(text ?? "{}") as Suite);
      report(t, passed, failures, refused);
      assert.deepEqual(
        failures.filter((name) => !expected.has(name)),
        [],
      );
      assert.ok(passed > 1_000);
    });
  }
});

function group(schema: JsonValue, tests: readonly [JsonValue, boolean][]): Group {
  return {
    description: JSON.stringify(schema),
    schema,
    tests: tests.map(([data, valid]) => ({ description: JSON.stringify(data), data, valid })),
  };
}

function playAll({ files }: Suite): { passed: number; failures: string[]; refused: Map<string, number> } {
  let passed = 0;
  const failures: string[] = [];
  const refused = new Map<string, number>();
  for (const [file, groups] of Object.entries(files)) {
    for (const each of groups) {
      const schema = compileGroup(each, file);
      if (typeof schema === "string") {
        refused.set(schema, (refused.get(schema) ?? 0) + 1);
        continue;
      }
      const wrong = each.tests.filter(({ data, valid }) => isValid(schema, data) !== valid);
      passed += each.tests.length - wrong.length;
      failures.push(...wrong.map(({ description }) => [file, each.description, description].join(" | ")));
    }
  }
  return { passed, failures, refused };
}

function isValid(schema: CompiledSchema, data: JsonValue): boolean {
  const verdict = schema.check(data);
  return verdict.ok && verdict.coercions.length === 0;
}

/** The schema of a group, or why it is refused. */
function compileGroup({ schema }: Group, file: string): CompiledSchema | string {
  if (typeof schema === "boolean") return "boolean as root";
  const state = new CheckState();
  const patterns = new Patterns(state);
  try {
    const prepared = prepareSchema(withoutFormats(schema, file), patterns);
    return new CompiledSchema(prepared.schema, { dialect: prepared.dialect, state, patterns });
  } catch (error) {
    if (!(error instanceof SchemaRejected)) throw error;
    const reason = error.faults[0]?.reason ?? "";
    assert.ok(REFUSED.has(reason), `${file}: ${error.message}`);
    return reason;
  }
}

/** Outside its own files the suite treats `format` as an annotation, as JSON Schema allows. */
function withoutFormats(schema: JsonValue, file: string): JsonObject {
  const text = JSON.stringify(schema);
  const kept = file.includes("format/") ? text : text.replaceAll(/"format":"[^"]*",?/g, "");
  return JSON.parse(kept.replaceAll(",}", "}")) as JsonObject;
}

function report(t: TestContext, passed: number, failures: string[], refused: Map<string, number>): void {
  t.diagnostic(`${passed} tests pass, ${failures.length} fail as in plain ajv`);
  t.diagnostic(`refused groups: ${[...refused].map(([reason, count]) => `${reason} ${count}`).join(", ")}`);
}
