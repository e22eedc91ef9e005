import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import fc from "fast-check";
import { decimal } from "../../../src/core/json/decimal.ts";
import {
  canonicalHash,
  canonicalJson,
  plainNumbers,
  stringifyJson,
} from "../../../src/core/json/stringify.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/value.ts";
import { readPieces } from "./reading.ts";

/** Values that their text gives back: no double whose text is that of an integer beyond the safe ones. */
const writable = fc
  .double({ noNaN: true })
  .filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number));

const { value: jsonValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(
      null,
      true,
      false,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      1e21,
      Number.MAX_VALUE,
    ),
    writable,
    fc.maxSafeInteger(),
    fc.bigInt({ min: 2n ** 53n }),
    fc.bigInt({ max: -(2n ** 53n) }),
    fc.string({ unit: "binary" }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), tie("value"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
}));

describe("stringifyJson", () => {
  test("what it writes reads back as the same value", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const { status, value: back } = readPieces([stringifyJson(value)]);
        assert.equal(status, "complete");
        assert.deepEqual(back, value);
      }),
    );
  });

  test("a value without bigints and -0 is written as JSON.stringify writes it", () => {
    const plain = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    fc.assert(
      fc.property(plain, (value) => {
        assert.equal(stringifyJson(value as JsonValue), JSON.stringify(value));
      }),
    );
  });

  test("bigints keep every digit, infinite doubles stay numbers, lone surrogates are escaped", () => {
    const value = {
      id: 12345678901234567890n,
      far: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
      half: "\ud83d",
    };
    assert.equal(stringifyJson(value), '{"id":12345678901234567890,"far":[1e999,-1e999],"half":"\\ud83d"}');
  });
});

describe("a number that a double does not hold", () => {
  const read = (text: string) => readPieces([text]).value as JsonObject;
  const LOSSY =
    "1e400 -1e400 0.1e-400 -0 3.14159265358979323846 12345678901234567890.5 9007199254740993e1".split(" ");

  for (const number of LOSSY) {
    test(`${number} is written as it stood in the text, wherever it stands`, () => {
      const text = `{"a":${number},"b":[1,${number}],"c":{"d":${number}}}`;
      assert.equal(stringifyJson(read(text)), text);
    });
  }

  test("any other number has the spelling of its double, however it was written", () => {
    const text = '{"a":1.0,"b":1e3,"c":1E+2,"d":0.10,"e":120000.0,"f":0e-9,"g":0.000}';
    assert.equal(stringifyJson(read(text)), '{"a":1,"b":1000,"c":100,"d":0.1,"e":120000,"f":0,"g":0}');
  });

  test("no decimal loses a digit, however many it has and wherever its point stands", () => {
    const decimals = fc.stringMatching(/^-?(0|[1-9][0-9]{0,17})\.[0-9]{1,24}$/);
    const nearLimit = fc
      .tuple(fc.bigInt({ min: 2n ** 51n, max: 2n ** 54n }), fc.integer({ min: 1, max: 15 }))
      .map(([digits, at]) => `${String(digits).slice(0, at)}.${String(digits).slice(at)}`);
    fc.assert(
      fc.property(fc.oneof(decimals, nearLimit), (text) => {
        const [value] = readPieces([`[${text}]`]).value as [number];
        assert.ok(Object.is(value, Number(text)));
        assert.deepEqual(decimal(stringifyJson(read(`{"a":${text}}`)).slice(5, -1)), decimal(text));
      }),
      { numRuns: 2000 },
    );
  });

  test("the last value of a repeated key counts, and a value that was put there later", () => {
    assert.equal(stringifyJson(read('{"a":1e400,"a":1e500}')), '{"a":1e500}');
    assert.equal(stringifyJson(read('{"a":0.1e-400,"a":0}')), '{"a":0}');
    assert.equal(stringifyJson(Object.assign(read('{"a":1e400}'), { a: 5 })), '{"a":5}');
  });

  test("the text is cut anywhere", () => {
    const text = '{"a":[0.1e-400,1e400]}';
    for (let at = 1; at < text.length; at++) {
      assert.equal(stringifyJson(readPieces([text.slice(0, at), text.slice(at)]).value as JsonValue), text);
    }
  });

  test("two of them are no repetition of each other", () => {
    assert.notEqual(canonicalHash(read('{"a":1e400}')), canonicalHash(read('{"a":1e500}')));
    assert.equal(canonicalHash(read('{"a":-0}')), canonicalHash(read('{"a":0}')));
  });
});

describe("canonicalJson", () => {
  const same: [a: JsonValue, b: JsonValue, text: string][] = [
    [{ b: 1, a: { d: 2, c: 3 } }, { a: { c: 3, d: 2 }, b: 1 }, '{"a":{"c":3,"d":2},"b":1}'],
    [{ "\uff61": 1, "😀": 2 }, { "😀": 2, "\uff61": 1 }, '{"😀":2,"｡":1}'],
    [1.0000001, 1.00000012, "1"],
    [1.5, 1.5000001, "1.5"],
    [0.1 + 0.2, 0.3, "0.3"],
    [0, -0, "0"],
    [-1e-7, 1e-9, "0"],
    [1e21, 1000000000000000000000n, "1000000000000000000000"],
    [-12345.678901, -12345.6789011, "-12345.678901"],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, "1e999"],
    [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, "-1e999"],
    [["\ud83d", null, true, []], ["\ud83d", null, true, []], '["\\ud83d",null,true,[]]'],
  ];
  for (const [a, b, text] of same) {
    test(`${text} is one spelling of both`, () => {
      assert.deepEqual([canonicalJson(a), canonicalJson(b)], [text, text]);
      assert.equal(canonicalHash(a), canonicalHash(b));
    });
  }

  const different: [a: JsonValue, b: JsonValue][] = [
    [1, "1"],
    [9007199254740992n, 9007199254740993n],
    [0.000001, 0.000002],
    [null, "null"],
    [
      [1, 2],
      [2, 1],
    ],
    [{}, []],
  ];
  for (const [a, b] of different) {
    test(`${stringifyJson(a)} and ${stringifyJson(b)} differ`, () => {
      assert.notEqual(canonicalHash(a), canonicalHash(b));
    });
  }

  test("the text is JSON and canonical itself, and the hash is its SHA-256", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value);
        const { value: back } = readPieces([text]);
        assert.equal(canonicalJson(back as JsonValue), text);
        assert.equal(canonicalHash(value), createHash("sha256").update(text).digest("hex"));
      }),
    );
  });
});

describe("plainNumbers", () => {
  test("a bigint becomes the nearest double; what holds none stays the same object", () => {
    const kept = { deep: [1, "x", null, { z: -0 }] };
    const value = { kept, ids: [1, 9007199254740993n], big: -(2n ** 64n) };
    const plain = plainNumbers(value) as typeof value;
    assert.deepEqual(plain, { kept, ids: [1, 9007199254740992], big: -(2 ** 64) });
    assert.equal(plain.kept, kept);
    assert.deepEqual(value.ids, [1, 9007199254740993n]);
    assert.equal(plainNumbers(kept), kept);
    assert.equal(plainNumbers(1n), 1);
  });

  test("__proto__ stays an ordinary key", () => {
    const { value } = readPieces(['{"__proto__":{"a":9007199254740993},"b":1}']);
    assert.equal(
      stringifyJson(plainNumbers(value as JsonValue)),
      '{"__proto__":{"a":9007199254740992},"b":1}',
    );
  });

  test("no bigint is left, and everything else is as it was", () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        assert.deepEqual(plainNumbers(value), JSON.parse(stringifyJson(value)));
      }),
    );
  });
});
