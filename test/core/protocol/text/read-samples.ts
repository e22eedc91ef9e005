import assert from "node:assert/strict";
import { test } from "node:test";
import { TEXT_FORMATS } from "../../../../src/core/protocol/text/formats/all.ts";
import { cutsOf, type Found, readPieces } from "./reading.ts";

/** One text and what must be found in it, in every cut. */
export interface Sample {
  /** What the sample shows. */
  title: string;
  format: string;
  text: string;
  /** Each call's name and argument text; a call that was cut off ends in `"…"`. */
  calls?: readonly (readonly [name: string, text: string, cut?: "…"])[];
  content?: string;
  reasoning?: string;
}

/** The tools that the samples may call. */
export const TOOLS = new Map<string, Record<string, unknown> | undefined>([
  ["ping", { type: "object", properties: {} }],
  [
    "write",
    {
      type: "object",
      properties: { path: { type: "string" }, body: { type: "string" } },
      required: ["path"],
    },
  ],
  [
    "plan",
    {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer" },
        note: { type: ["string", "null"] },
        big: { anyOf: [{ type: "object" }, { type: "null" }] },
        list: { $ref: "#/$defs/list" },
      },
      $defs: { list: { type: "array", items: { type: "integer" } } },
    },
  ],
]);

/** Reads each sample whole, character by character and cut in two at every place. */
export function readSamples(samples: readonly Sample[]): void {
  for (const { title, format: name, text, calls = [], content = "", reasoning = "" } of samples) {
    test(`${name}: ${title}`, () => {
      const format = TEXT_FORMATS.find(({ names }) => names.includes(name));
      assert.ok(format);
      const expected: Found = {
        content,
        reasoning,
        calls: calls.map(([called, args, cut]) => ({
          name: called,
          id: undefined,
          text: args,
          whole: cut === undefined,
        })),
      };
      for (const pieces of cutsOf({ text }))
        assert.deepEqual(readPieces(format, pieces, TOOLS), expected, JSON.stringify(pieces));
    });
  }
}
