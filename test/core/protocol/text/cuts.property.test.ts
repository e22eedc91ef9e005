import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { autoFormat } from "../../../../src/core/protocol/text/auto.ts";
import { TEXT_FORMATS } from "../../../../src/core/protocol/text/formats/all.ts";
import { MarkerScan } from "../../../../src/core/protocol/text/marker-scan.ts";
import type { TextFormat } from "../../../../src/core/protocol/text/reader.ts";
import { readPieces } from "./reading.ts";

const tools = new Map<string, Record<string, unknown> | undefined>([
  ["ping", undefined],
  [
    "search",
    {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer" } },
      required: ["query"],
    },
  ],
]);

const PARTS = [
  ...[
    '{"name": "search", "arguments": {"query": "a"}}',
    '{"name": "ping"',
    '"arguments": {',
    '"query": "x"}',
    "}",
    "{",
    "[",
    "]",
  ],
  ...[
    "ping",
    "search",
    "\n",
    " ",
    "```",
    "```json\n",
    "~~~",
    "`",
    ",",
    ":",
    ";",
    "<",
    "</",
    ">",
    '"',
    "'",
    "\\",
    "=",
    "(",
    ")",
  ],
  ...[
    "query",
    'search(query="a")',
    "hello",
    "Thought: ",
    "Action: ",
    "Action Input: ",
    "😀",
    "\ud83d",
    "\ude00",
    "é",
    "null",
    "1",
  ],
];

/** Texts in which a format's own markers stand in any order, whole or broken off, among what may stand between them. */
function soup({ markers, closesReasoning }: TextFormat): fc.Arbitrary<string> {
  const whole = fc.constantFrom(
    ...markers,
    closesReasoning,
    ...markers.map((marker) => marker.replace("<", "</")),
  );
  const broken = fc.tuple(whole, fc.nat({ max: 12 })).map(([marker, length]) => marker.slice(0, length));
  const part = fc.oneof(
    { weight: 3, arbitrary: whole },
    { weight: 1, arbitrary: broken },
    { weight: 4, arbitrary: fc.constantFrom(...PARTS) },
  );
  return fc.array(part, { maxLength: 14 }).map((parts) => parts.join(""));
}

function cut(text: string, points: readonly number[]): string[] {
  const at = [...new Set(points.map((point) => point % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index])).filter((piece) => piece !== "");
}

for (const format of [...TEXT_FORMATS, autoFormat("unknown")]) {
  const [name] = format.names;
  const scan = new MarkerScan(format.markers);

  test(`${name}: any cut of any text gives the same`, () => {
    fc.assert(
      fc.property(
        soup(format),
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.boolean(),
        (text, points, prefilled) => {
          const whole = readPieces(format, [text], tools, prefilled);
          assert.deepEqual(readPieces(format, cut(text, points), tools, prefilled), whole);
          assert.deepEqual(readPieces(format, text.split(""), tools, prefilled), whole);
        },
      ),
      { numRuns: 150 },
    );
  });

  test(`${name}: text without a marker passes unchanged in the very call that brought it`, () => {
    const pieces = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(pieces, (given) => {
        const plain = given.filter((piece) => {
          const spelled = Buffer.from(piece);
          return scan.isFree(spelled, 0, spelled.length) && !/[\n\\]/.test(piece) && piece.trim() !== "";
        });
        const reader = format.reader({ tools, reasoningPrefilled: false });
        for (const piece of ["Well, ", ...plain]) {
          let out = "";
          reader.push(piece, (event) => {
            if (event.kind === "content") out += event.text;
          });
          assert.equal(out, piece);
        }
        reader.end((event) => assert.fail(event.kind));
      }),
      { numRuns: 100 },
    );
  });
}
