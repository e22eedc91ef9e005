import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { formatTraceparent, newTrace, parseTraceparent } from "../../src/telemetry/trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

suite("parseTraceparent", () => {
  test("reads version 00", () => {
    assert.deepEqual(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, flags: 1 });
  });

  test("keeps the two flags that are defined and clears the others", () => {
    assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)?.flags, 3);
    assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-fc`)?.flags, 0);
  });

  test("reads a higher version as far as it is known", () => {
    for (const header of [
      `01-${TRACE}-${SPAN}-01`,
      `cc-${TRACE}-${SPAN}-01-what-else`,
      `cc-${TRACE}-${SPAN}-01-`,
    ]) {
      assert.equal(parseTraceparent(header)?.traceId, TRACE, header);
    }
  });

  const INVALID = {
    absent: undefined,
    empty: "",
    "version ff": `ff-${TRACE}-${SPAN}-01`,
    "more after version 00": `00-${TRACE}-${SPAN}-01-x`,
    "higher version without a dash": `01-${TRACE}-${SPAN}-01x`,
    "trace id of zeros": `00-${"0".repeat(32)}-${SPAN}-01`,
    "span id of zeros": `00-${TRACE}-${"0".repeat(16)}-01`,
    "upper case": `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    "short trace id": `00-${TRACE.slice(1)}-${SPAN}-01`,
    "no flags": `00-${TRACE}-${SPAN}`,
    "one digit of flags": `00-${TRACE}-${SPAN}-1`,
    "no hexadecimal": `00-${TRACE.replace("4", "g")}-${SPAN}-01`,
    "a line break": `00-${TRACE}-${SPAN}-01\n`,
    "two values": `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  };
  for (const [what, header] of Object.entries(INVALID)) {
    test(`refuses: ${what}`, () => assert.equal(parseTraceparent(header), undefined));
  }
});

suite("formatTraceparent", () => {
  test("gives back what was read, for every valid header", () => {
    const hex = (length: number) =>
      fc
        .array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
        .map((digits) => digits.join(""))
        .filter((id) => /[^0]/.test(id));
    fc.assert(
      fc.property(hex(32), hex(16), fc.integer({ min: 0, max: 3 }), (traceId, spanId, flags) => {
        const header = formatTraceparent({ traceId, spanId, flags });
        assert.deepEqual(parseTraceparent(header), { traceId, spanId, flags });
      }),
    );
  });
});

suite("newTrace", () => {
  test("is valid, not sampled, and another one each time", () => {
    const traces = Array.from({ length: 100 }, () => newTrace());
    assert.equal(new Set(traces.map(({ traceId }) => traceId)).size, 100);
    for (const trace of traces) {
      assert.deepEqual(parseTraceparent(formatTraceparent(trace)), trace);
      assert.equal(trace.flags & 1, 0);
    }
  });
});
