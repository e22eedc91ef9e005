import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jsonErrorMessage } from "../../../src/core/json/parse-error.ts";
import { JsonParser } from "../../../src/core/json/parser.ts";
import { cutAt, readPieces } from "./reading.ts";

/** The outcome of `text`, the same whole, in single units and at every cut in two. */
function read(text: string, options = {}) {
  const whole = readPieces([text], options);
  assert.deepEqual(readPieces(text.split(""), options), whole);
  for (let at = 0; at <= text.length; at++) assert.deepEqual(readPieces(cutAt(text, at), options), whole);
  return whole;
}

describe("JsonParser: values", () => {
  const accepted: [text: string, value: unknown][] = [
    ['{"a":1}', { a: 1 }],
    [" \t\r\n[ 1 , [ ] , { } ]\n", [1, [], {}]],
    ["true", true],
    ["[false,null]", [false, null]],
    ["0", 0],
    ["-0", -0],
    ["[-0.0,0.5,-12.25e+2,1E400,1e-400,10E02]", [-0, 0.5, -1225, Number.POSITIVE_INFINITY, 0, 1000]],
    ["[9007199254740991,-9007199254740991]", [9007199254740991, -9007199254740991]],
    ["[9007199254740992,-9007199254740993]", [9007199254740992n, -9007199254740993n]],
    ["9007199254740993.0", 9007199254740992],
    ["12345678901234567890123", 12345678901234567890123n],
    ['""', ""],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"\\u00e9\\uD83D\\ude00😀\u2028\u007f"', "é😀😀\u2028\u007f"],
    ['"\\ud83d"', "\ud83d"],
    ['"\\ude00\\ud83dx\ud83d"', "\ude00\ud83dx\ud83d"],
    ['{"a":1,"b":2,"a":3}', { a: 3, b: 2 }],
    ['{"":{"":[]}}', { "": { "": [] } }],
  ];
  for (const [text, value] of accepted) {
    test(`accepts ${JSON.stringify(text)}`, () => {
      const { status, value: actual, error } = read(text);
      assert.deepEqual({ status, error, value: actual }, { status: "complete", error: undefined, value });
    });
  }

  test("__proto__ and constructor are ordinary own keys", () => {
    const text = '{"__proto__":{"x":1},"constructor":{"prototype":{"x":2}},"toString":3}';
    const { value } = read(text);
    assert.equal(JSON.stringify(value), text);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal(({} as { x?: unknown }).x, undefined);
  });
});

const refused: [text: string, reason: string, message: string][] = [
  ['{"a":1 "b"', "syntax", 'Expected "," or "}" at position 7, but found "\\"".'],
  ["[1 2]", "syntax", 'Expected "," or "]" at position 3, but found "2".'],
  ["[1}", "syntax", 'Expected "," or "]" at position 2, but found "}".'],
  ['{"a":1,}', "syntax", 'Expected a key in double quotes at position 7, but found "}".'],
  ["{1", "syntax", 'Expected a key in double quotes or "}" at position 1, but found "1".'],
  ['{"a" 1', "syntax", 'Expected ":" at position 5, but found "1".'],
  ["[,", "syntax", 'Expected a value or "]" at position 1, but found ",".'],
  ["[1,]", "syntax", 'Expected a value at position 3, but found "]".'],
  ["\ufeff{}", "syntax", "Expected a value at position 0, but found U+FEFF."],
  ["😀", "syntax", "Expected a value at position 0, but found U+D83D."],
  ["\u00a01", "syntax", "Expected a value at position 0, but found U+00A0."],
  ["NaN", "syntax", 'Expected a value at position 0, but found "N".'],
  ["trux", "syntax", 'Expected "true" at position 3, but found "x".'],
  ["[nul]", "syntax", 'Expected "null" at position 4, but found "]".'],
  ["007", "syntax", 'Expected no digit behind a leading zero at position 1, but found "0".'],
  ["[-01]", "syntax", 'Expected no digit behind a leading zero at position 3, but found "1".'],
  ["+1", "syntax", 'Expected a value at position 0, but found "+".'],
  [".5", "syntax", 'Expected a value at position 0, but found ".".'],
  ["[1.]", "syntax", 'Expected a digit at position 3, but found "]".'],
  ["[-a]", "syntax", 'Expected a digit at position 2, but found "a".'],
  ["[1e+]", "syntax", 'Expected a digit at position 4, but found "]".'],
  ["[1.5.2]", "syntax", 'Expected "," or "]" at position 4, but found ".".'],
  ['"a\nb"', "syntax", "Expected a closing double quote at position 2, but found U+000A."],
  ['"\\x"', "syntax", 'Expected one of " \\ / b f n r t u behind a backslash at position 2, but found "x".'],
  ['"\\é"', "syntax", 'Expected one of " \\ / b f n r t u behind a backslash at position 2, but found "é".'],
  ['"\\u12g"', "syntax", 'Expected a hexadecimal digit of a "\\u" escape at position 5, but found "g".'],
  ["", "incomplete", "Expected a value at position 0, but found the end of the text."],
  ['{"a":"b', "incomplete", "Expected a closing double quote at position 7, but found the end of the text."],
  ["1e", "incomplete", "Expected a digit at position 2, but found the end of the text."],
  ["[12", "incomplete", 'Expected "," or "]" at position 3, but found the end of the text.'],
  ["tr", "incomplete", 'Expected "true" at position 2, but found the end of the text.'],
  ["{} x", "trailing", 'Expected nothing but white space at position 3, but found "x".'],
];

describe("JsonParser: faults", () => {
  for (const [text, reason, message] of refused) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      const { status, value, error } = read(text);
      assert.equal(status, "failed");
      assert.equal(value, undefined);
      assert.ok(error);
      assert.deepEqual([error.reason, jsonErrorMessage(error)], [reason, message]);
    });
  }

  test("a fault is known at the character that makes it, and nothing changes it", () => {
    const parser = new JsonParser();
    parser.push('{"a":tru');
    assert.equal(parser.status, "open");
    parser.push("_");
    const { error } = parser;
    assert.equal(error?.offset, 8);
    parser.push('"}');
    parser.end();
    assert.equal(parser.error, error);
  });
});

describe("JsonParser: behind the root", () => {
  test("white space changes nothing", () => {
    const { before, completeAt } = read(" [1] \n\t");
    assert.deepEqual([before.status, completeAt], ["complete", 4]);
  });

  test("other text fails, but the first value and its end stay known", () => {
    const { error, value, firstValue, completeAt } = read('{} {"a":1}');
    assert.deepEqual([error?.reason, error?.offset], ["trailing", 3]);
    assert.deepEqual([value, firstValue, completeAt], [undefined, {}, 2]);
  });

  test("a root number is complete at the first character that does not belong to it, or at the end", () => {
    const { before, status, value, completeAt } = read("12");
    assert.deepEqual(
      [before.status, before.completeAt, status, value, completeAt],
      ["open", -1, "complete", 12, 2],
    );
    assert.deepEqual([read("12 ").before.status, read("12 ").completeAt], ["complete", 2]);
    const { error, firstValue } = read("1.5x");
    assert.deepEqual([error?.reason, error?.offset, firstValue], ["trailing", 3, 1.5]);
  });

  test("text behind the end is judged like any other", () => {
    const parser = new JsonParser();
    parser.push("12");
    parser.end();
    parser.push(" ");
    assert.equal(parser.status, "complete");
    parser.push("3");
    assert.deepEqual([parser.error?.reason, parser.error?.offset, parser.firstValue], ["trailing", 3, 12]);
  });
});
