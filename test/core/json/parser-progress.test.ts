import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonErrorMessage } from "../../../src/core/json/parse-error.ts";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { readPieces } from "./reading.ts";

describe("JsonParser: progress", () => {
  test("every value is reported with its path, innermost first, the root last", () => {
    const { values } = readPieces(['{"a":[1,{"b":"x"},[]],"c":true,"c":nu', "ll}"]);
    const object = { a: [1, { b: "x" }, []], c: null };
    assert.deepEqual(values, [
      [["a", 0], 1],
      [["a", 1, "b"], "x"],
      [["a", 1], { b: "x" }],
      [["a", 2], []],
      [["a"], object.a],
      [["c"], true],
      [["c"], null],
      [[], object],
    ]);
  });

  test("a value is reported in the push that completes it", () => {
    const seen: unknown[] = [];
    const parser = new JsonParser({ onValue: (_path, value) => seen.push(value) });
    const steps: [piece: string, seen: unknown[]][] = [
      ['{"a":"x', []],
      ['"', ["x"]],
      [',"b":1', ["x"]],
      ["2", ["x"]],
      [" ", ["x", 12]],
      ["}", ["x", 12, { a: "x", b: 12 }]],
    ];
    for (const [piece, expected] of steps) {
      parser.push(piece);
      assert.deepEqual(seen, expected);
    }
  });

  const open: [text: string, path: (string | number)[]][] = [
    ["", []],
    ['"ab', []],
    ["12", []],
    ["{", []],
    ['{"a', []],
    ['{"a"', ["a"]],
    ['{"a":', ["a"]],
    ['{"a":"b', ["a"]],
    ['{"a":1', ["a"]],
    ['{"a":tr', ["a"]],
    ['{"a":1 ', []],
    ['{"a":1,', []],
    ['{"a":{', ["a"]],
    ['{"a":{"b":', ["a", "b"]],
    ['{"a":{"b":[', ["a", "b"]],
    ['{"a":{"b":[1', ["a", "b", 0]],
    ['{"a":{"b":["x"', ["a", "b"]],
    ['{"a":{"b":["x",', ["a", "b", 1]],
    ['{"a":{"b":["x",{"c":"', ["a", "b", 1, "c"]],
    ['{"a":{"b":["x",{"c":""}]},"d":', ["d"]],
    ['{"a":1}', []],
  ];
  for (const [text, path] of open) {
    test(`behind ${JSON.stringify(text)} the open path is ${JSON.stringify(path)}`, () => {
      assert.deepEqual(readPieces([text]).before.openPath, path);
      assert.deepEqual(readPieces(text.split("")).before.openPath, path);
    });
  }

  test("the open path stays where a fault was found", () => {
    assert.deepEqual(readPieces(['{"a":{"b":[1,x'], {}).openPath, ["a", "b", 1]);
  });
});

describe("JsonParser: limits", () => {
  test("64 levels are read, the 65th bracket is refused where it stands", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    assert.equal(readPieces([nested(64)]).status, "complete");
    const { error } = readPieces([nested(65)]);
    assert.ok(error);
    assert.equal(error.reason, "depth");
    assert.equal(
      jsonErrorMessage(error),
      'Expected at most 64 nested objects and arrays at position 64, but found "[".',
    );
    assert.equal(readPieces([nested(65)], { maxDepth: 65 }).status, "complete");
  });

  test("levels that are closed do not count", () => {
    assert.equal(readPieces([`[${"[],{},".repeat(100)}[]]`], { maxDepth: 2 }).status, "complete");
  });

  test("100,000 brackets and 100,000 open members fail at the limit", () => {
    assert.equal(readPieces(["[".repeat(100_000)]).error?.offset, 64);
    assert.equal(readPieces(['{"a":'.repeat(100_000)]).error?.offset, 64 * 5);
  });

  for (const pieces of [["[1,2]"], ["[1,", "2", "]"], ["[1,2", "]   "], ["[1,2]", " "]]) {
    test(`text beyond the length is refused: ${JSON.stringify(pieces)}`, () => {
      const long = readPieces(pieces, { maxLength: 4 });
      assert.ok(long.error);
      assert.deepEqual([long.error.reason, long.error.offset], ["length", 4]);
      assert.equal(
        jsonErrorMessage(long.error),
        "Expected at most 4 characters of JSON at position 4, but found more.",
      );
    });
  }

  test("text of just the length is read, and an earlier fault wins over the length", () => {
    assert.equal(readPieces(["[1,2]"], { maxLength: 5 }).status, "complete");
    assert.equal(readPieces(["[x,2]"], { maxLength: 4 }).error?.reason, "syntax");
  });

  test("endless white space behind the root is refused, and the value stays known", () => {
    const { error, firstValue } = readPieces(["{}", " ".repeat(8)], { maxLength: 6 });
    assert.deepEqual([error?.reason, error?.offset, firstValue], ["length", 6, {}]);
  });

  test("the default length is 1 MiB", () => {
    const string = (length: number) => `"${"x".repeat(length - 2)}"`;
    assert.equal(readPieces([string(1_048_576)]).status, "complete");
    assert.equal(readPieces([string(1_048_577)]).error?.offset, 1_048_576);
  });

  test("1 MiB in fragments of 4 characters takes far less than a second", { timeout: 20_000 }, () => {
    const text = JSON.stringify({ text: "word ".repeat(200_000) });
    const parser = new JsonParser();
    for (let at = 0; at < text.length; at += 4) parser.push(text.slice(at, at + 4));
    assert.deepEqual(parser.value, JSON.parse(text));
  });
});
