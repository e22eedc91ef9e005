import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { cutAt, readPieces, referenceValue } from "./reading.ts";

const space = fc.constantFrom("", "", " ", "\n\t", "\r");

const number = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?$/),
  fc.constantFrom(
    "-0",
    "9007199254740991",
    "9007199254740992",
    "-9007199254740993",
    "1e400",
    "5e-324",
    "0E+0",
  ),
);

/** One character of a string as it may be spelt. */
const unit = fc.oneof(
  fc.constantFrom(
    "a",
    "é",
    "😀",
    "\ud83d",
    "\ude00",
    "\u2028",
    "\\n",
    '\\"',
    "\\\\",
    "\\/",
    "\\ud83d",
    "\\uDE00",
    "\\u0000",
  ),
  fc.stringMatching(/^\\u[0-9a-fA-F]{4}$/),
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text).slice(1, -1)),
);
const string = fc.array(unit, { maxLength: 6 }).map((units) => `"${units.join("")}"`);
const key = fc.oneof(string, fc.constantFrom('"a"', '"b"', '"__proto__"', '"constructor"', '"0"'));

/** Valid JSON text in any spelling, with repeated keys and white space wherever it may stand. */
const { text: jsonText } = fc.letrec<{ text: string; value: string }>((tie) => {
  const value = tie("value");
  const element = fc.tuple(space, value, space).map((parts) => parts.join(""));
  const member = fc
    .tuple(space, key, space, value, space)
    .map(([a, name, b, item, c]) => `${a}${name}${b}:${item}${c}`);
  return {
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("true", "false", "null"),
      number,
      string,
      fc.array(element, { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
      fc.array(member, { maxLength: 4 }).map((items) => `{${items.join(",")}}`),
    ),
    text: element,
  };
});

/** Valid text with one place changed: mostly refused, and by its last characters. */
const nearlyJson = fc
  .tuple(
    jsonText,
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.oneof(fc.constantFrom(..."{}[],:\"\\0-+.eEu \n1tn'\ufeff\u0000"), fc.string()),
  )
  .map(([text, place, drop, added]) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + added + text.slice(at + drop);
  });

const garbage = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "\\", "u", "12", "-", ".", "e", "true", "null", " "),
      { maxLength: 30 },
    )
    .map((parts) => parts.join("")),
);

const anyText = fc.oneof(jsonText, nearlyJson, garbage);

/** The text in pieces, the cuts given as numbers of any size. */
function pieces(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

describe("JsonParser: for any text", () => {
  test("every cut in two, every unit alone and any other cuts give the same as the whole", () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        const whole = readPieces([text]);
        assert.deepEqual(readPieces(text.split("")), whole);
        assert.deepEqual(readPieces(pieces(text, cuts)), whole);
        for (let at = 1; at < text.length; at++) assert.deepEqual(readPieces(cutAt(text, at)), whole);
      }),
      { numRuns: 500 },
    );
  });

  test("the limits too fall on the same place for any cuts", () => {
    const limits = fc.record({ maxDepth: fc.nat({ max: 3 }), maxLength: fc.nat({ max: 40 }) });
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(), { maxLength: 12 }), limits, (text, cuts, options) => {
        const whole = readPieces([text], options);
        assert.deepEqual(readPieces(text.split(""), options), whole);
        assert.deepEqual(readPieces(pieces(text, cuts), options), whole);
      }),
    );
  });

  test("verdict and value are those of JSON.parse, integers beyond the safe ones apart", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { status, value } = readPieces([text], { maxDepth: 1000 });
        const expected = referenceValue(text);
        assert.deepEqual([status, value], [expected === undefined ? "failed" : "complete", expected]);
        assert.deepEqual(Object.keys(Object(value)), Object.keys(Object(expected)));
      }),
      { numRuns: 3000 },
    );
  });

  test("what was read before the fault is the beginning of a JSON text or a whole one", () => {
    fc.assert(
      fc.property(nearlyJson, (text) => {
        const { error, firstValue, completeAt } = readPieces([text]);
        if (error === undefined || error.reason === "depth") return;
        const before = readPieces([text.slice(0, error.offset)]).before;
        assert.notEqual(before.status, "failed");
        if (error.reason === "trailing")
          assert.deepEqual(referenceValue(text.slice(0, completeAt)), firstValue);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("JsonParser: for any value", () => {
  test("each event's path leads to its value, and the last one is the root", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (root) => {
        const text = JSON.stringify(root);
        const { values } = readPieces(text.split(""));
        const value = referenceValue(text);
        for (const [path, reported] of values) {
          let found: unknown = value;
          for (const step of path) found = Reflect.get(Object(found), step);
          assert.deepEqual(reported, found);
        }
        assert.deepEqual(values.at(-1), [[], value]);
      }),
    );
  });

  test("the open path of every prefix is the path of a value that is reported later, if the text goes on", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (root) => {
        const text = JSON.stringify(root);
        const paths = readPieces([text]).values.map(([path]) => JSON.stringify(path));
        for (let at = 0; at < text.length; at++) {
          assert.ok(paths.includes(JSON.stringify(readPieces([text.slice(0, at)]).before.openPath)));
        }
      }),
    );
  });
});
