import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isoTime } from "../../src/engine/iso-time.ts";

test("a time is spelled as Date spells it, whichever was asked for before", () => {
  const ms = fc.integer({ min: 0, max: 4_000_000_000_000 });
  const close = fc.tuple(ms, fc.array(fc.integer({ min: 0, max: 2_500 })));
  fc.assert(
    fc.property(close, ([start, steps]) => {
      for (const step of [0, ...steps])
        assert.equal(isoTime(start + step), new Date(start + step).toISOString());
    }),
  );
});
