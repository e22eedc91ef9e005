import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { cutAt, readPieces, referenceValue } from "./reading.ts";

interface SuiteCase {
  name: string;
  expect?: "accept" | "reject" | "either";
  hex: string;
}

const FOLDER = new URL("../../../../shared/data/json/", import.meta.url);
const skip = existsSync(FOLDER) ? false : "the JSON parsing suite is not beside this checkout";

/** The options of every case: `JSON.parse` has no limits of its own that these texts reach. */
const OPTIONS = { maxDepth: 1000 };
/** Texts up to this length are cut everywhere, longer ones at `SAMPLES` places. */
const SHORT = 300;
const SAMPLES = 60;

function load(file: string): SuiteCase[] {
  if (skip) return [];
  const lines = readFileSync(new URL(file, FOLDER), "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** The text of a case, byte order mark included; `undefined` when it is not UTF-8. */
function decode(hex: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(hex, "hex"));
  } catch {
    return undefined;
  }
}

/** Compares the parser with `JSON.parse`, whole and in pieces. Returns whether the text is accepted. */
function check({ hex }: SuiteCase): boolean {
  const text = decode(hex);
  if (text === undefined) return false;
  const whole = readPieces([text], OPTIONS);
  const expected = referenceValue(text);
  assert.deepEqual([whole.status, whole.value], [expected === undefined ? "failed" : "complete", expected]);
  assert.deepEqual(readPieces(text.split(""), OPTIONS), whole);
  const step = text.length <= SHORT ? 1 : Math.ceil(text.length / SAMPLES);
  for (let at = 1; at < text.length; at += step)
    assert.deepEqual(readPieces(cutAt(text, at), OPTIONS), whole);
  return whole.status === "complete";
}

describe("JsonParser: the JSON parsing suite", { skip }, () => {
  const cases = load("jsontestsuite.jsonl");

  test("the suite is whole", () => assert.equal(cases.length, 318));

  for (const suiteCase of cases) {
    test(`${suiteCase.expect}: ${suiteCase.name}`, () => {
      const accepted = check(suiteCase);
      if (suiteCase.expect !== "either") assert.equal(accepted, suiteCase.expect === "accept");
    });
  }

  for (const transform of load("test_transform.jsonl")) {
    test(`same value as JSON.parse: ${transform.name}`, () => {
      assert.equal(check(transform), decode(transform.hex) !== undefined);
    });
  }
});

describe("JsonParser: own samples of such cases", () => {
  const samples: Required<SuiteCase>[] = [
    { name: "a byte order mark", expect: "reject", hex: "efbbbf7b7d" },
    { name: "an overlong slash", expect: "reject", hex: "5b22c0af225d" },
    { name: "a surrogate in UTF-8", expect: "reject", hex: "5b22eda080225d" },
    { name: "a lone escaped surrogate", expect: "accept", hex: "5b225c7544383030225d" },
    {
      name: "an integer beyond the safe ones",
      expect: "accept",
      hex: "5b393232333337323033363835343737353830385d0a",
    },
    { name: "a comma too many", expect: "reject", hex: "5b312c5d" },
  ];
  for (const sample of samples) {
    test(`${sample.expect}: ${sample.name}`, () => assert.equal(check(sample), sample.expect === "accept"));
  }
});
