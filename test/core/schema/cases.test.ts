import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { JsonParser } from "../../../src/core/json/parser.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { compileSchema } from "../../../src/core/schema/compile-schema.ts";
import { explain } from "../../../src/core/schema/message.ts";
import { SchemaRejected } from "../../../src/core/schema/schema-rejected.ts";
import { sharedNames, sharedText, skipWithout } from "./shared-files.ts";

/** An outcome that a case accepts. */
interface Outcome {
  readonly arguments?: JsonValue;
  readonly coerced?: readonly string[];
  readonly error_kind?: string | null;
  readonly must_mention?: readonly string[];
}

interface Case {
  readonly id: string;
  readonly area: string;
  readonly arguments_text?: string | { readonly repeat: readonly (readonly [string, number])[] };
  readonly parameters?: JsonObject;
  readonly expect: Outcome & { readonly alternatives?: readonly Outcome[] };
}

const city = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
};

const SAMPLE: readonly Case[] = [
  sample("as it is", '{"city":"Paris","days":3}', { arguments: { city: "Paris", days: 3 }, coerced: [] }),
  sample("coerced", '{"city":"Paris","days":"3"}', {
    arguments: { city: "Paris", days: 3 },
    coerced: ["days"],
  }),
  sample("encoded twice", '"{\\"city\\":\\"Paris\\"}"', { arguments: { city: "Paris" }, coerced: [""] }),
  sample("missing", '{"days":3}', { error_kind: "schema", must_mention: ["city"] }),
  sample("wrong type", '{"city":["Paris"]}', { error_kind: "schema", must_mention: ["city", "string"] }),
];

describe("the cases of broken calls", () => {
  for (const each of SAMPLE) it(`are judged as they say: ${each.id}`, () => assert.ok(play(each)));

  const names = sharedNames("cases");
  it("are judged as the collection says", { skip: skipWithout(names, "cases") }, (t: TestContext) => {
    let played = 0;
    for (const name of names ?? []) {
      if (!/^\d+-.*\.json$/.test(name)) continue;
      const each = JSON.parse(sharedText(`cases/${name}`) ?? "") as Case;
      if (["json", "schema"].includes(each.area) && each.parameters !== undefined && play(each)) played++;
    }
    t.diagnostic(`${played} cases`);
    assert.ok(played > 20);
  });
});

function sample(id: string, text: string, expect: Outcome): Case {
  return { id, area: "schema", arguments_text: text, parameters: city, expect };
}

/** Judges a case; `false` if its text is no JSON, which is not decided here. */
function play({ id, arguments_text, parameters, expect }: Case): boolean {
  const value = parse(
    typeof arguments_text === "object" ? repeat(arguments_text.repeat) : (arguments_text ?? ""),
  );
  if (value === undefined) return false;
  const outcome = judge(parameters, value);
  const accepted = [expect, ...(expect.alternatives ?? [])];
  assert.ok(
    accepted.some((each) => fits(outcome, each)),
    `${id}: ${JSON.stringify(outcome)}`,
  );
  return true;
}

function parse(text: string): JsonValue | undefined {
  if (text === "") return {};
  const parser = new JsonParser();
  parser.push(text);
  parser.end();
  return parser.value;
}

function repeat(parts: readonly (readonly [string, number])[]): string {
  return parts.map(([text, times]) => text.repeat(times)).join("");
}

function judge(parameters: JsonObject | undefined, value: JsonValue): Outcome {
  try {
    const verdict = compileSchema(parameters).check(value);
    if (verdict.ok) {
      const coerced = verdict.coercions.map(({ path }) => path.slice(1).replaceAll("/", "."));
      return { arguments: verdict.value, coerced };
    }
    const [problem] = verdict.problems;
    return { error_kind: "schema", must_mention: problem === undefined ? [] : [explain(problem, "en")] };
  } catch (error) {
    assert.ok(error instanceof SchemaRejected);
    return { error_kind: "config" };
  }
}

function fits(outcome: Outcome, wanted: Outcome): boolean {
  if (wanted.arguments !== undefined) {
    return (
      isDeepStrictEqual(positive(outcome.arguments), positive(wanted.arguments)) &&
      isDeepStrictEqual(outcome.coerced, wanted.coerced)
    );
  }
  const [message = ""] = outcome.must_mention ?? [];
  return (
    outcome.error_kind === wanted.error_kind &&
    (wanted.must_mention ?? []).every((word) => message.includes(word))
  );
}

/** -0 and 0 are the same number in JSON. */
function positive(value: JsonValue | undefined): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
